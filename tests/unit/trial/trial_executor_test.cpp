#include "agent/trial/trial_executor.hpp"

#include <doctest/doctest.h>

#include <string>

#include "agent/trial/tuning_data.hpp"
#include "tests/unit/trial/fake_device.hpp"
#include "tests/unit/trial/scale_kernel.hpp"

using namespace idletune;
using namespace idletune::fake;

namespace {

constexpr std::int64_t kElements = 1000;

struct Bench {
  fake::Device device;
  std::shared_ptr<const KernelPackage> package;
  TrialExecutorOptions options;
  QuirkTable quirks;
  std::unique_ptr<TrialExecutor> executor;

  explicit Bench(const KernelDescription& description = scale_description())
      : package(package_of(description)) {
    float x0 = 0;
    trial::fill_elements(package->argument(0), 0, 2, 0,
                         MutableBytes(reinterpret_cast<std::uint8_t*>(&x0), sizeof x0));
    device.kernels["scale_reference"] = [](const Launch& launch) {
      scale_reference(launch);
      return Status();
    };
    device.kernels["scale"] = [this, x0](const Launch& launch) {
      return scale(launch, x0, device.count("scale") - 1);
    };
  }

  TrialExecutor& get() {
    if (!executor) {
      executor = std::make_unique<TrialExecutor>(device, package, options, quirks);
    }
    return *executor;
  }
  TrialRequest request(TrialStage stage, std::int64_t fault, std::uint32_t seed = 1) {
    TrialRequest result;
    result.stage = stage;
    result.shape = {kElements};
    result.configuration = {fault, 16, 0};
    result.seed = seed;
    result.deadline = std::chrono::milliseconds(100);
    return result;
  }
  TrialOutcome check(std::int64_t fault, std::uint32_t seed = 1) {
    return get().run(request(TrialStage::check, fault, seed));
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a right candidate passes the check without any error") {
  Bench bench;
  const TrialOutcome outcome = bench.check(kNoFault);
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  CHECK(outcome.stage == TrialStage::check);
  CHECK(outcome.max_error == 0);
  CHECK(outcome.message.empty());
  // One more run of the reference on the smallest shape, for its code.
  CHECK(bench.device.count("scale_reference") == 2);
  CHECK(bench.device.count("scale") == 1);
  CHECK(outcome.device == Nanoseconds(2000));
  CHECK(outcome.wall == Nanoseconds(4500));
}

TEST_CASE("an error within the tolerance passes and is reported relative to it") {
  Bench bench;
  const TrialOutcome outcome = bench.check(kSlightlyOff);
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  CHECK(outcome.max_error > 0.3);
  CHECK(outcome.max_error < 1);
}

TEST_CASE("every seeded fault is found and named") {
  struct Expectation {
    Fault fault;
    const char* message;
  };
  const Expectation expectations[] = {
      {kOneWrongElement, "output 'y': element 500 is "},
      {kNanElement, "output 'y': element 999 is nan"},
      {kInfiniteElement, "output 'y': element 0 is inf"},
      {kForgottenElement, "output 'y': element 333 was not written"},
      {kForgottenOutput, "output 'y': element 0 was not written"},
      {kBehindTheEnd, "wrote outside buffer 'y': 0 bytes behind its end"},
      {kBeforeTheStart, "wrote outside buffer 'x': 4 bytes before its start"},
      {kChangesInput, "wrote into input 'x', element 500"},
      {kAccumulatesTwice, "output 'z': element 3 is "},
  };
  Bench bench;
  for (const Expectation& expectation : expectations) {
    CAPTURE(expectation.message);
    const TrialOutcome outcome = bench.check(expectation.fault);
    CHECK(outcome.status == TrialStatus::correctness);
    CHECK(outcome.stage == TrialStage::check);
    CHECK_MESSAGE(contains(outcome.message, expectation.message), outcome.message);
    CHECK(outcome.max_error > 1);
    // The next candidate is not blamed for it.
    const TrialOutcome next = bench.check(kNoFault);
    CHECK_MESSAGE(next.status == TrialStatus::correct, next.message);
  }
}

TEST_CASE("one wrong element among a million is found") {
  Bench bench;
  TrialRequest request = bench.request(TrialStage::check, kOneWrongElement);
  request.shape = {1000003};
  const TrialOutcome outcome = bench.get().run(request);
  CHECK(outcome.status == TrialStatus::correctness);
  CHECK_MESSAGE(contains(outcome.message, "element 500001 is "), outcome.message);
  CHECK_MESSAGE(contains(outcome.message, "; 1 of 1000003 elements differ"), outcome.message);
  request.configuration = {kNoFault, 16, 0};
  CHECK(bench.get().run(request).status == TrialStatus::correct);
}

TEST_CASE("a candidate that is wrong for other inputs only is found with a second seed") {
  Bench bench;
  CHECK(bench.check(kWrongForSeedTwo, 1).status == TrialStatus::correct);
  const TrialOutcome outcome = bench.check(kWrongForSeedTwo, 2);
  CHECK(outcome.status == TrialStatus::correctness);
  CHECK_MESSAGE(contains(outcome.message, "output 'y': element 1 is "), outcome.message);
}

TEST_CASE("outputs are poisoned again before each check") {
  Bench bench;
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
  CHECK(bench.check(kForgottenOutput).status == TrialStatus::correctness);
}

TEST_CASE("the reference runs once per seed and shape") {
  Bench bench;
  for (int i = 0; i < 3; ++i) {
    CHECK(bench.check(kNoFault, 1).status == TrialStatus::correct);
    CHECK(bench.check(kNoFault, 2).status == TrialStatus::correct);
  }
  CHECK(bench.device.count("scale_reference") == 3);  // and once for its code
  TrialRequest other = bench.request(TrialStage::prepare, kNoFault);
  other.shape = {77};
  CHECK(bench.get().run(other).status == TrialStatus::correct);
  CHECK(bench.device.count("scale_reference") == 4);
}

TEST_CASE("elements that the reference leaves alone must be left alone") {
  Bench bench;
  bench.device.kernels["scale_reference"] = [](const Launch& launch) {
    std::uint32_t last;
    float* y = launch.buffer<float>(1);
    std::memcpy(&last, y + kElements - 1, sizeof last);
    scale_reference(launch);
    std::memcpy(y + kElements - 1, &last, sizeof last);
    return Status();
  };
  const TrialOutcome outcome = bench.check(kNoFault);
  CHECK(outcome.status == TrialStatus::correctness);
  CHECK_MESSAGE(contains(outcome.message, "element 999 was written"), outcome.message);
}

TEST_CASE("without windows writes behind the end are still found") {
  Bench bench;
  bench.device.alignment = 0;
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
  const TrialOutcome outcome = bench.check(kBehindTheEnd);
  CHECK(outcome.status == TrialStatus::correctness);
  CHECK_MESSAGE(contains(outcome.message, "behind its end"), outcome.message);
}

TEST_CASE("a reference that changes nothing or writes astray fails prepare and blames nobody") {
  Bench bench;
  bench.device.kernels["scale_reference"] = [](const Launch&) { return Status(); };
  TrialOutcome outcome = bench.check(kNoFault);
  CHECK(outcome.stage == TrialStage::prepare);
  CHECK(outcome.status == TrialStatus::correctness);
  CHECK_MESSAGE(contains(outcome.message, "the reference changed no output"), outcome.message);
  bench.device.kernels["scale_reference"] = [](const Launch& launch) {
    scale_reference(launch);
    launch.buffer<float>(2)[kElements + 7] = 0;
    return Status();
  };
  outcome = bench.check(kNoFault);
  CHECK(outcome.stage == TrialStage::prepare);
  CHECK(outcome.status == TrialStatus::correctness);
  CHECK_MESSAGE(
      contains(outcome.message, "the reference wrote outside buffer 'z': 28 bytes behind"),
      outcome.message);
}

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
  CHECK(bench.device.compiles == 0);

  request.shape = {kElements};
  request.configuration = {kNoFault, 16, 65536};
  request.ignore_device_limits = true;
  CHECK(bench.get().run(request).status == TrialStatus::correct);
  CHECK(bench.device.compiles == 2);  // the variant, and the reference along with it
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

TEST_CASE("compiled variants are kept up to the limit, the least recently used one goes") {
  Bench bench;
  bench.options.compiled_variants = 2;
  const auto compile = [&](std::int64_t fault) {
    const TrialOutcome outcome = bench.get().run(bench.request(TrialStage::compile, fault));
    CHECK(outcome.status == TrialStatus::correct);
    return bench.device.compiles;
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

TEST_CASE("a failing run is a runtime failure and the next trial works") {
  Bench bench;
  const TrialOutcome outcome = bench.check(kFailsToRun);
  CHECK(outcome.status == TrialStatus::runtime);
  CHECK(outcome.message == "scripted failure");
  CHECK_FALSE(bench.get().poisoned());
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
}

TEST_CASE("a run that outlives its deadline poisons the executor and frees nothing it may use") {
  auto bench = std::make_unique<Bench>();
  const TrialOutcome outcome = bench->check(kHangs);
  CHECK(outcome.status == TrialStatus::timeout);
  CHECK(outcome.stage == TrialStage::check);
  CHECK(bench->get().poisoned());
  const TrialOutcome next = bench->check(kNoFault);
  CHECK(next.status == TrialStatus::runtime);
  CHECK_MESSAGE(contains(next.message, "has not ended"), next.message);
  const int buffers = bench->device.live_buffers;
  const int programs = bench->device.live_programs;
  CHECK(buffers == 6);
  CHECK(programs == 2);
  bench->get().release();
  bench->executor.reset();
  CHECK(bench->device.live_buffers == buffers);
  CHECK(bench->device.live_programs == programs);
  (void)bench.release();  // what was not freed refers to its device, for good
}

TEST_CASE("the first run of a variant gets time for code generation, later ones do not") {
  Bench bench;
  bench.options.first_run_allowance = std::chrono::seconds(3);
  bench.options.reference_deadline = std::chrono::seconds(7);
  CHECK(bench.check(kNoFault, 1).status == TrialStatus::correct);
  CHECK(bench.check(kNoFault, 2).status == TrialStatus::correct);
  REQUIRE(bench.device.deadlines.size() == 5);
  CHECK(bench.device.deadlines[0] ==
        std::chrono::seconds(7));  // the reference on the smallest shape
  CHECK(bench.device.deadlines[1] == std::chrono::seconds(7));
  CHECK(bench.device.deadlines[2] == std::chrono::milliseconds(3100));
  CHECK(bench.device.deadlines[3] == std::chrono::seconds(7));
  CHECK(bench.device.deadlines[4] == std::chrono::milliseconds(100));
}

TEST_CASE("measuring takes the wanted number of samples after the check's warm-up") {
  Bench bench;
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
  for (int i = 1; i <= 4; ++i) {
    bench.device.times.push_back({Nanoseconds(100 * i), Nanoseconds(100 * i + 50)});
  }
  TrialRequest request = bench.request(TrialStage::measure, kNoFault);
  request.repeats = 4;
  const TrialOutcome outcome = bench.get().run(request);
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  REQUIRE(outcome.samples.size() == 4);
  CHECK(outcome.samples[0] == Nanoseconds(100));
  CHECK(outcome.samples[3] == Nanoseconds(400));
  CHECK(outcome.device == Nanoseconds(1000));
  CHECK(outcome.wall == Nanoseconds(1200));
}

TEST_CASE("measuring warms up a variant that has not run at this shape") {
  Bench bench;
  bench.device.times.push_back({Nanoseconds(999999), Nanoseconds(999999)});  // generates code
  bench.device.times.push_back({Nanoseconds(10), Nanoseconds(11)});
  const TrialOutcome outcome = bench.get().run(bench.request(TrialStage::measure, kNoFault));
  CHECK(outcome.status == TrialStatus::correct);
  REQUIRE(outcome.samples.size() == 1);
  CHECK(outcome.samples[0] == Nanoseconds(10));
  TrialRequest other = bench.request(TrialStage::measure, kNoFault);
  other.shape = {55};
  CHECK(bench.get().run(other).status == TrialStatus::correct);
  CHECK(bench.device.count("scale") == 4);
}

TEST_CASE("measuring stops after the first run that is clearly slower") {
  Bench bench;
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
  for (int time : {100, 100, 301, 100}) {
    bench.device.times.push_back({Nanoseconds(time), Nanoseconds(time)});
  }
  TrialRequest request = bench.request(TrialStage::measure, kNoFault);
  request.repeats = 4;
  request.stop_above = Nanoseconds(300);
  const TrialOutcome outcome = bench.get().run(request);
  CHECK(outcome.status == TrialStatus::correct);
  CHECK(outcome.samples.size() == 3);
}

TEST_CASE("events that report no time are repeated and then refused") {
  Bench bench;
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
  bench.device.times = {{Nanoseconds(0), Nanoseconds(500)}, {Nanoseconds(70), Nanoseconds(500)}};
  TrialRequest request = bench.request(TrialStage::measure, kNoFault);
  TrialOutcome outcome = bench.get().run(request);
  CHECK(outcome.status == TrialStatus::correct);
  REQUIRE(outcome.samples.size() == 1);
  CHECK(outcome.samples[0] == Nanoseconds(70));
  bench.device.default_time = {Nanoseconds(0), Nanoseconds(500)};
  outcome = bench.get().run(request);
  CHECK(outcome.status == TrialStatus::runtime);
  CHECK_MESSAGE(contains(outcome.message, "no time"), outcome.message);
}

TEST_CASE("a device without times of its own is measured by the wall") {
  Bench bench;
  bench.device.default_time = {Nanoseconds(0), Nanoseconds(500)};
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
  const TrialOutcome outcome = bench.get().run(bench.request(TrialStage::measure, kNoFault));
  CHECK(outcome.status == TrialStatus::correct);
  REQUIRE(outcome.samples.size() == 1);
  CHECK(outcome.samples[0] == Nanoseconds(500));
}

TEST_CASE("writes outside the buffers are also found while measuring") {
  Bench bench;
  CHECK(bench.check(kBehindTheEndWhenWarm).status == TrialStatus::correct);
  const TrialOutcome outcome =
      bench.get().run(bench.request(TrialStage::measure, kBehindTheEndWhenWarm));
  CHECK(outcome.status == TrialStatus::correctness);
  CHECK(contains(outcome.message, "wrote outside buffer 'z'"));
}

TEST_CASE("inputs that runs change are restored before measuring") {
  Bench bench;
  TrialRequest request = bench.request(TrialStage::measure, kNoFault);
  std::vector<float> seen;
  bench.device.kernels["scale"] = [&](const Launch& launch) {
    seen.push_back(launch.buffer<float>(2)[0]);
    scale_reference(launch);
    return Status();
  };
  CHECK(bench.get().run(request).status == TrialStatus::correct);  // warm-up and one sample
  CHECK(bench.get().run(request).status == TrialStatus::correct);
  REQUIRE(seen.size() == 3);
  CHECK(seen[2] == seen[0]);
}

TEST_CASE("a shape beyond the scratch limit fails in prepare") {
  Bench bench;
  bench.options.scratch_limit_bytes = 40000;
  TrialOutcome outcome = bench.get().run(bench.request(TrialStage::prepare, kNoFault));
  CHECK(outcome.stage == TrialStage::prepare);
  CHECK(outcome.status == TrialStatus::runtime);
  // Three buffers of 4000 bytes between guards of 4096, and two references of 8000 bytes.
  CHECK_MESSAGE(contains(outcome.message, "needs 52576 bytes"), outcome.message);
  CHECK(bench.device.live_buffers == 0);
}

TEST_CASE("memory that the device does not have fails in prepare") {
  Bench bench;
  bench.device.fail_allocations = true;
  const TrialOutcome outcome = bench.check(kNoFault);
  CHECK(outcome.stage == TrialStage::prepare);
  CHECK(outcome.status == TrialStatus::runtime);
  bench.device.fail_allocations = false;
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
}

TEST_CASE("released memory is made again when needed") {
  Bench bench;
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
  bench.get().release();
  CHECK(bench.device.live_buffers == 0);
  CHECK(bench.device.live_programs == 0);
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
}

TEST_CASE("a workspace whose size depends on the configuration is guarded but not compared") {
  KernelDescription description = scale_description();
  description.arguments[2].access = Access::out;
  description.arguments[2].size = "N + LOCAL";
  Bench bench(description);
  const auto leave_z_alone = [](const Launch& launch) {
    const std::int32_t n = launch.scalar<std::int32_t>(4);
    for (std::int32_t i = 0; i < n; ++i) launch.buffer<float>(1)[i] = launch.buffer<float>(0)[i];
    launch.buffer<float>(2)[0] = static_cast<float>(launch.parameter("LOCAL"));
    return Status();
  };
  bench.device.kernels["scale_reference"] = leave_z_alone;
  bench.device.kernels["scale"] = leave_z_alone;
  TrialRequest request = bench.request(TrialStage::check, kNoFault);
  request.configuration = {kNoFault, 64, 0};
  CHECK(bench.get().run(request).status == TrialStatus::correct);
  bench.device.kernels["scale"] = [&](const Launch& launch) {
    const Status status = leave_z_alone(launch);
    launch.buffer<float>(2)[kElements + 64] = 1;
    return status;
  };
  const TrialOutcome outcome = bench.get().run(request);
  CHECK(outcome.status == TrialStatus::correctness);
  CHECK_MESSAGE(contains(outcome.message, "wrote outside buffer 'z': 0 bytes behind"),
                outcome.message);
}

TEST_CASE("a package without outputs cannot be checked and says so") {
  KernelDescription description = scale_description();
  description.arguments[1].access = Access::in;
  description.arguments[2].access = Access::in;
  Bench bench(description);
  bench.device.kernels["scale_reference"] = [](const Launch&) { return Status(); };
  const TrialOutcome outcome = bench.check(kNoFault);
  CHECK(outcome.status == TrialStatus::correctness);
  CHECK(outcome.stage == TrialStage::prepare);
  CHECK_MESSAGE(contains(outcome.message, "declares no output"), outcome.message);
}

TEST_CASE("a simulated device is believed, and its recorded failures come through") {
  Bench bench;
  bench.options.simulated = true;
  bench.device.kernels.erase("scale_reference");
  Status script;
  bool spoil = false;
  bench.device.kernels["scale"] = [&](const Launch& launch) {
    if (spoil) launch.buffer<std::uint8_t>(1)[5] ^= 0xff;
    return script;
  };
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
  spoil = true;
  CHECK(bench.check(kNoFault).status == TrialStatus::correctness);
  script = Status(StatusCode::device_error, "crash");
  CHECK(bench.check(kNoFault).status == TrialStatus::crash);
  script = Status(StatusCode::timeout, "scripted");
  CHECK(bench.check(kNoFault).status == TrialStatus::timeout);
  CHECK_FALSE(bench.get().poisoned());
}
