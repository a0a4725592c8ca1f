// The stage `measure` of agent/trial/trial_executor.cpp.
#include "agent/trial/trial_executor.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/unit/trial/trial_bench.hpp"

using namespace idletune;
using namespace idletune::fake;

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
