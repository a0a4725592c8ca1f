#include "agent/trial/compiled_variants.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/unit/forwarding_devices.hpp"
#include "tests/unit/trial/trial_bench.hpp"

using namespace idletune;
using namespace idletune::fake;

TEST_CASE("device limits refuse a configuration before anything is compiled") {
  Bench bench;
  TrialRequest request = bench.request(TrialStage::compile, kNoFault);
  request.configuration = {kNoFault, 2048, 0};
  TrialOutcome outcome = bench.get().run(request);
  CHECK(outcome.status == TrialStatus::constraints);
  CHECK_MESSAGE(contains(outcome.message, "work-group size 2048 exceeds the device's 1024"),
                outcome.message);
  request.configuration = {kNoFault, 16, 65536};
  outcome = bench.get().run(request);
  CHECK(outcome.status == TrialStatus::constraints);
  CHECK_MESSAGE(contains(outcome.message, "local memory of 65536 exceeds the device's 32768"),
                outcome.message);
  request.configuration = {kNoFault, 17, 0};
  outcome = bench.get().run(request);
  CHECK(outcome.status == TrialStatus::constraints);
  CHECK_MESSAGE(contains(outcome.message, "not in the space"), outcome.message);
  request.configuration = {kNoFault, 16, 0};
  request.shape = {std::int64_t{1} << 30};
  outcome = bench.get().run(request);
  CHECK(outcome.status == TrialStatus::constraints);
  CHECK_MESSAGE(contains(outcome.message, "buffer 'x' of 4294967296"), outcome.message);
  request.shape = {kElements};
  bench.device.device_info.max_groups = {62, 0, 0};
  outcome = bench.get().run(request);
  CHECK(outcome.status == TrialStatus::constraints);
  CHECK_MESSAGE(contains(outcome.message, "groups in dimension 0 63 exceeds the device's 62"),
                outcome.message);
  bench.device.device_info.max_groups = {};
  CHECK(bench.device.compiles == 0);

  request.configuration = {kNoFault, 16, 65536};
  request.ignore_device_limits = true;
  CHECK(bench.get().run(request).status == TrialStatus::correct);
  CHECK(bench.device.compiles == 2);  // the variant, and the reference along with it
}

TEST_CASE("no candidate's binary goes into the program cache") {
  Bench bench;
  std::vector<bool> kept;
  bench.device.compile_script = [&](const CompileRequest& request) {
    kept.push_back(request.keep);
    return Status();
  };
  TrialRequest request = bench.request(TrialStage::compile, kNoFault);
  request.configuration = {kNoFault, 64, 0};
  REQUIRE(request.configuration != bench.package->default_configuration());
  CHECK(bench.get().run(request).status == TrialStatus::correct);
  request.configuration = bench.package->default_configuration();
  CHECK(bench.get().run(request).status == TrialStatus::correct);
  // The candidate, the reference along with it, and the default.
  REQUIRE(kept.size() == 3);
  CHECK(kept == std::vector<bool>{false, true, true});
}

TEST_CASE("what only the compiled program knows refuses it before a run") {
  Bench bench;
  bench.device.program_work_group_limit = 8;
  TrialOutcome outcome = bench.check(kNoFault);
  CHECK(outcome.status == TrialStatus::constraints);
  CHECK(outcome.stage == TrialStage::compile);
  bench.device.program_work_group_limit = 1024;
  bench.device.program_local_memory = 32769;
  outcome = bench.check(kNoFault);
  CHECK(outcome.status == TrialStatus::constraints);
  CHECK(bench.device.runs.empty());
}

TEST_CASE("a known-bad pattern refuses a configuration before anything is compiled") {
  Bench bench;
  REQUIRE(bench.quirks.add_text("platform=\"Fake\": SHARED == 1024: hangs", "test").ok());
  TrialRequest request = bench.request(TrialStage::compile, kNoFault);
  request.configuration = {kNoFault, 16, 1024};
  const TrialOutcome outcome = bench.get().run(request);
  CHECK(outcome.status == TrialStatus::constraints);
  CHECK_MESSAGE(contains(outcome.message, "known to fail on this driver: hangs"), outcome.message);
  CHECK(bench.device.compiles == 0);
}

TEST_CASE("compile errors carry the compiler's words") {
  Bench bench;
  bench.device.compile_script = [](const CompileRequest& request) {
    return request.entry == "scale" ? Status(StatusCode::compile_error, "line 3: no") : Status();
  };
  const TrialOutcome outcome = bench.check(kNoFault);
  CHECK(outcome.status == TrialStatus::compile);
  CHECK(outcome.stage == TrialStage::compile);
  CHECK(outcome.message == "line 3: no");
}

TEST_CASE("what cannot be compiled here, and is not prebuilt, is a constraint") {
  Bench bench;
  bench.device.compile_script = [](const CompileRequest&) {
    return Status(StatusCode::unsupported, "no prebuilt binary");
  };
  const TrialOutcome outcome = bench.get().run(bench.request(TrialStage::compile, kNoFault));
  CHECK(outcome.status == TrialStatus::constraints);
  CHECK(outcome.message == "no prebuilt binary");
}

TEST_CASE("memory that is short is not held against a configuration") {
  const auto says_nothing = [](const TrialOutcome& outcome) {
    CHECK(outcome.stage == TrialStage::prepare);
    CHECK_MESSAGE(outcome.status == TrialStatus::runtime, outcome.message);
  };
  Bench bench;
  const TrialRequest request = bench.request(TrialStage::compile, kNoFault);
  const Status short_of_memory(StatusCode::out_of_memory, "scripted");
  bench.device.compile_script = [&](const CompileRequest&) { return short_of_memory; };
  says_nothing(bench.get().run(request));
  bench.device.compile_script = nullptr;
  bench.device.fail_allocations = true;
  says_nothing(bench.get().run(request));
  bench.device.fail_allocations = false;
  CHECK(bench.get().run(request).status == TrialStatus::correct);
}

TEST_CASE("a first launch for which memory is short is the configuration's failure") {
  Bench bench;
  bench.device.kernels["scale"] = [](const Launch&) {
    return Status(StatusCode::out_of_memory, "too many registers");
  };
  const TrialOutcome outcome = bench.get().run(bench.request(TrialStage::compile, kNoFault));
  CHECK(outcome.stage == TrialStage::compile);
  CHECK(outcome.status == TrialStatus::runtime);
}

TEST_CASE("outputs that memory was short to compare say nothing of a configuration") {
  class Unreadable final : public test::ForwardingDevice {
   public:
    using ForwardingDevice::ForwardingDevice;
    Status read(const Buffer& buffer, std::size_t offset, MutableBytes data) override {
      if (reads_left-- > 0) return ForwardingDevice::read(buffer, offset, data);
      return {StatusCode::out_of_memory, "scripted"};
    }
    int reads_left = 1000;
  };
  Bench bench;
  Unreadable device(bench.device);
  TrialExecutor executor(device, bench.package, bench.options);
  const TrialRequest request = bench.request(TrialStage::check, kNoFault);
  REQUIRE(executor.run(request).status == TrialStatus::correct);
  for (int reads = 0;; ++reads) {
    device.reads_left = reads;
    const TrialOutcome outcome = executor.run(request);
    if (outcome.status == TrialStatus::correct) break;
    CHECK(outcome.stage == TrialStage::prepare);
  }
}

TEST_CASE("compiled variants are kept up to the limit, the least recently used one goes") {
  Bench bench;
  bench.options.compiled_variants = 2;
  const auto compile = [&](std::int64_t fault) {
    const TrialOutcome outcome = bench.get().run(bench.request(TrialStage::compile, fault));
    CHECK(outcome.status == TrialStatus::correct);
    return bench.device.compiles.load();
  };
  CHECK(compile(0) == 2);  // and the reference
  CHECK(compile(1) == 3);
  CHECK(compile(0) == 3);
  CHECK(compile(2) == 4);  // drops 1
  CHECK(bench.device.live_programs == 3);
  CHECK(compile(0) == 4);
  CHECK(compile(1) == 5);
}

TEST_CASE(
    "the compile stage makes the first launch of variant and reference on the smallest shape") {
  Bench bench;
  const TrialOutcome outcome = bench.get().run(bench.request(TrialStage::compile, kNoFault));
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  CHECK(bench.device.runs == std::vector<std::string>{"scale", "scale_reference"});
  CHECK(bench.device.live_buffers == 0);
}

TEST_CASE("the compile stage says how long its first launch had the device") {
  Bench bench;
  TrialOutcome outcome = bench.get().run(bench.request(TrialStage::compile, kNoFault));
  CHECK(outcome.status == TrialStatus::correct);
  CHECK(outcome.device.count() > 0);
  bench.device.kernels["scale"] = [](const Launch&) {
    return Status(StatusCode::timeout, "it never ends");
  };
  const TrialRequest endless = bench.request(TrialStage::compile, kBehindTheEnd);
  outcome = bench.get().run(endless);
  CHECK(outcome.status == TrialStatus::timeout);
  CHECK(outcome.device == endless.deadline + bench.options.first_run_allowance);
}

TEST_CASE(
    "where the kernel does not have the smallest shape, the first launch is on a larger one") {
  const struct {
    const char* constraint;
    std::int32_t elements;
  } cases[] = {{"N >= 1", 1},
               {"N % 8 == 0 and N >= 40", 64},
               {"N % 125 == 0", 1000},  // the shape that is asked for
               {"N == 3", 0}};
  for (const auto& [constraint, elements] : cases) {
    CAPTURE(constraint);
    KernelDescription description = scale_description();
    description.constraints.push_back(constraint);
    Bench bench(description);
    std::int32_t launched = 0;
    bench.device.kernels["scale"] = [&](const Launch& launch) {
      launched = launch.scalar<std::int32_t>(4);
      return Status();
    };
    (void)bench.get().run(bench.request(TrialStage::compile, kNoFault));
    CHECK(launched == elements);
  }
}
