#include "agent/trial/trial_executor.hpp"

#include <doctest/doctest.h>

#include "tests/unit/trial/trial_bench.hpp"

using namespace idletune;
using namespace idletune::fake;

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

TEST_CASE("writes as far astray as the buffer is long are found") {
  for (const std::size_t alignment : {std::size_t{64}, std::size_t{0}}) {
    Bench bench;
    bench.device.alignment = alignment;
    TrialRequest request = bench.request(TrialStage::check, kFarBehindTheEnd);
    request.shape = {10000};
    const TrialOutcome behind = bench.get().run(request);
    CHECK(behind.status == TrialStatus::correctness);
    CHECK(contains(behind.message, "wrote outside buffer 'y': 39996 bytes behind its end"));
    if (alignment == 0) continue;
    request.configuration = {kFarBeforeTheStart, 16, 0};
    const TrialOutcome before = bench.get().run(request);
    CHECK(contains(before.message, "wrote outside buffer 'x': 40000 bytes before its start"));
    request.configuration = {kNoFault, 16, 0};
    CHECK(bench.get().run(request).status == TrialStatus::correct);
  }
}

TEST_CASE("zones are as wide as the scratch limit and the device allow") {
  // Three buffers of 40000 bytes, their zones of 4096 on each side, and twice two outputs.
  constexpr std::uint64_t kLeast = 3 * (40000 + 2 * 4096) + 2 * 2 * 40000;
  const auto far_write = [](std::uint64_t limit_bytes, std::uint64_t largest_buffer_bytes) {
    Bench bench;
    bench.options.scratch_limit_bytes = limit_bytes;
    bench.device.device_info.max_allocation_bytes = largest_buffer_bytes;
    TrialRequest request = bench.request(TrialStage::check, kNoFault);
    request.shape = {10000};
    const TrialOutcome outcome = bench.get().run(request);
    CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
    CHECK(bench.device.largest_allocation < largest_buffer_bytes + 1);
    return bench.device.largest_allocation.load();
  };
  CHECK(far_write(kLeast, 1 << 20) == 40000 + 2 * 4096);
  CHECK(far_write(kLeast + 3 * 40000, 1 << 20) > 40000 + 2 * 19000);
  CHECK(far_write(kLeast + 3 * 40000, 1 << 20) <= 40000 + 2 * 20032);
  CHECK(far_write(1 << 24, 1 << 20) == 40000 + 2 * 40000);
  CHECK(far_write(1 << 24, 100000) == 40000 + 2 * 4096);
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
