// Trials of variants that prepare something once for all launches.
#include <doctest/doctest.h>

#include <string>

#include "agent/trial/trial_executor.hpp"
#include "tests/unit/trial/setup_kernel.hpp"

using namespace idletune;
using namespace idletune::fake;

namespace {

struct SetupBench {
  SetupBench() { give_setup_kernels(device); }
  TrialOutcome run(TrialStage stage, std::int64_t fault, std::int64_t converts = 1) {
    TrialRequest request;
    request.stage = stage;
    request.shape = {1000};
    request.configuration = {fault, 16, converts};
    request.repeats = 3;
    request.deadline = std::chrono::milliseconds(100);
    return executor.run(request);
  }
  TrialOutcome check(std::int64_t fault) { return run(TrialStage::check, fault); }

  fake::Device device;
  TrialExecutor executor{device, setup_package(), TrialExecutorOptions(), QuirkTable()};
};

}  // namespace

TEST_CASE("a check makes the setup once and judges two launches after it") {
  SetupBench bench;
  const TrialOutcome outcome = bench.check(kNoSetupFault);
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  CHECK(bench.device.compiles == 2);  // the variant, the reference
  const std::vector<std::string> last(bench.device.runs.end() - 3, bench.device.runs.end());
  CHECK(last == std::vector<std::string>{"convert", "scale", "scale"});
  CHECK(outcome.setup > Nanoseconds(0));
}

TEST_CASE("a setup's time stands apart from that of the launches") {
  SetupBench bench;
  REQUIRE(bench.check(kNoSetupFault).status == TrialStatus::correct);
  using std::chrono::microseconds;
  const auto took = [](int us) { return RunTimes{microseconds(us), microseconds(100)}; };
  bench.device.times = {took(500), took(1), took(2), took(3)};
  const TrialOutcome outcome = bench.run(TrialStage::measure, kNoSetupFault);
  REQUIRE_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  CHECK(outcome.samples ==
        std::vector<Nanoseconds>{microseconds(1), microseconds(2), microseconds(3)});
  CHECK(outcome.setup == microseconds(500));
  CHECK(outcome.device == microseconds(506));
}

TEST_CASE("a configuration whose setup's condition does not hold has none") {
  SetupBench bench;
  const TrialOutcome outcome = bench.run(TrialStage::check, kNoSetupFault, 0);
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  CHECK(bench.device.count("convert") == 0);
  CHECK(outcome.setup == Nanoseconds(0));
}

TEST_CASE("a setup may take as long as many launches, but not for ever") {
  SetupBench bench;
  REQUIRE(bench.check(kNoSetupFault).status == TrialStatus::correct);
  REQUIRE(bench.run(TrialStage::measure, kNoSetupFault).status == TrialStatus::correct);
  REQUIRE(bench.device.runs.size() == bench.device.deadlines.size());
  for (std::size_t i = bench.device.runs.size(); i-- > bench.device.runs.size() - 4;) {
    const bool setup = bench.device.runs[i] == "convert";
    CHECK(bench.device.deadlines[i] == std::chrono::milliseconds(setup ? 1000 : 100));
  }
}

TEST_CASE("a fault in the setup or in what uses it is found and named") {
  SetupBench bench;
  expect_found(bench,
               {
                   {kSetupWrong, TrialStatus::correctness, "output 'y': element 999 is "},
                   {kSetupForgets, TrialStatus::correctness, "output 'y': element 500 is "},
                   {kSetupAdds, TrialStatus::correctness, "output 'y': element 0 is "},
                   {kSetupOverruns, TrialStatus::correctness,
                    "wrote outside buffer 'p': 0 bytes behind its end"},
                   {kSetupFails, TrialStatus::runtime, "the setup broke"},
                   {kSetupWritesInput, TrialStatus::correctness, "wrote into input 'w', element 0"},
                   {kStepWrong, TrialStatus::correctness, "output 'y': element 0 is "},
                   {kStepSpoils, TrialStatus::correctness, "output 'y': element 999 is "},
               });
}
