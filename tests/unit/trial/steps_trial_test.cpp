// Trials of variants that run several kernel functions and hand results on in scratch memory.
#include <doctest/doctest.h>

#include <string>

#include "agent/trial/trial_executor.hpp"
#include "tests/unit/trial/steps_kernel.hpp"

using namespace idletune;
using namespace idletune::fake;

namespace {

struct StepsBench {
  StepsBench() { give_steps_kernels(device); }
  TrialOutcome run(TrialStage stage, std::int64_t fault, const Shape& shape = {1000}) {
    TrialRequest request;
    request.stage = stage;
    request.shape = shape;
    request.configuration = {fault, 16};
    request.seed = 1;
    request.repeats = 3;
    request.deadline = std::chrono::milliseconds(100);
    return executor.run(request);
  }
  TrialOutcome check(std::int64_t fault) { return run(TrialStage::check, fault); }

  fake::Device device;
  TrialExecutor executor{device, steps_package(), TrialExecutorOptions(), QuirkTable()};
};

}  // namespace

TEST_CASE("a variant's steps run in order, from one compilation") {
  StepsBench bench;
  const TrialOutcome outcome = bench.check(kNoStepFault);
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  CHECK(bench.device.compiles == 2);  // the variant, the reference
  const std::vector<std::string> last(bench.device.runs.end() - 3, bench.device.runs.end());
  CHECK(last == std::vector<std::string>{"square", "increment", "add"});
}

TEST_CASE("steps whose condition does not hold at a shape are left out") {
  StepsBench bench;
  const TrialOutcome outcome = bench.run(TrialStage::check, kNoStepFault, {5});
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  CHECK(bench.device.runs.back() == "all");
  CHECK(bench.device.count("add") == 0);
}

TEST_CASE("a variant takes what its steps take together") {
  StepsBench bench;
  REQUIRE(bench.check(kNoStepFault).status == TrialStatus::correct);
  const auto took = [](int microseconds) {
    return RunTimes{std::chrono::microseconds(microseconds), std::chrono::microseconds(100)};
  };
  bench.device.times = {took(1),  took(2), took(3), took(10), took(20),
                        took(30), took(1), took(1), took(7)};
  const TrialOutcome outcome = bench.run(TrialStage::measure, kNoStepFault);
  REQUIRE_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  using std::chrono::microseconds;
  CHECK(outcome.samples ==
        std::vector<Nanoseconds>{microseconds(6), microseconds(60), microseconds(9)});
}

TEST_CASE("a fault in any single step is found and named") {
  StepsBench bench;
  expect_found(
      bench,
      {
          {kFirstStepWrong, TrialStatus::correctness, "output 'y': element 999 is "},
          {kSecondStepWrong, TrialStatus::correctness, "output 'y': element 0 is "},
          {kLastStepWrong, TrialStatus::correctness, "output 'y': element 0 is "},
          {kFirstStepForgets, TrialStatus::correctness, "output 'y': element 500 is "},
          {kFirstStepOverruns, TrialStatus::correctness,
           "wrote outside buffer 't': 0 bytes behind its end"},
          {kSecondStepFails, TrialStatus::runtime, "the second step broke"},
          {kSecondStepWritesInput, TrialStatus::correctness, "wrote into input 'x', element 0"},
      });
}
