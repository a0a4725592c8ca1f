// What runs in a new helper before anything else: the helper that replays trials.
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <sys/wait.h>

#include "agent/trial/helper_trials.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/process.hpp"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/os/children.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

constexpr Nanoseconds kPatience = std::chrono::minutes(5);

// Helpers that write down what they are asked, one letter each (replaying_helper.cpp). Their
// reference does what `reference` says.
class WatchedHelpers {
 public:
  explicit WatchedHelpers(const char* reference = "") {
    ::setenv("IDLETUNE_TEST_ASKED", asked_.file("asked").c_str(), 1);
    set_reference(reference);
    const auto folder = required(self_executable_folder());
    HelperTrialsOptions options;
    options.program = folder + "/replaying-helper";
    DeviceInfo device;
    device.platform = "test";
    auto package = required(KernelPackage::open(test::played_package(), "play.itkernel"));
    trials_ = std::make_unique<HelperTrials>(device, package, options);
  }
  ~WatchedHelpers() {
    trials_.reset();
    ::unsetenv("IDLETUNE_TEST_ASKED");
    ::unsetenv("IDLETUNE_TEST_REFERENCE");
  }

  static void set_reference(const char* behaviour) {
    ::setenv("IDLETUNE_TEST_REFERENCE", behaviour, 1);
  }
  TrialOutcome run(TrialStage stage, const Configuration& configuration = {2, 2}) {
    TrialRequest request;
    request.stage = stage;
    request.shape = {64};
    request.configuration = configuration;
    request.deadline = std::chrono::seconds(20);
    TrialOutcome outcome;
    const Status started = trials_->start(request);
    REQUIRE_MESSAGE(started.ok(), started.to_string());
    REQUIRE(trials_->poll(kPatience, outcome));
    return outcome;
  }
  std::string asked() const { return test::content_of(asked_.file("asked")); }
  TrialRunner& trials() { return *trials_; }

 private:
  test::TemporaryFolder asked_;
  std::unique_ptr<HelperTrials> trials_;
};

}  // namespace

TEST_CASE("the reference runs first in a helper, whatever is asked of it") {
  const std::pair<TrialStage, const char*> firsts[] = {{TrialStage::compile, "rc"},
                                                       {TrialStage::prepare, "rp"},
                                                       {TrialStage::check, "rk"},
                                                       {TrialStage::measure, "rm"}};
  for (const auto& [stage, expected] : firsts) {
    WatchedHelpers helpers;
    const TrialOutcome outcome = helpers.run(stage);
    CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
    CHECK(outcome.stage == stage);
    CHECK(outcome.reference == ReferenceRun::well);
    CHECK(helpers.asked() == expected);
  }
}

TEST_CASE("the reference runs again in the helper that takes the place of a dead one") {
  WatchedHelpers helpers;
  CHECK(helpers.run(TrialStage::compile).status == TrialStatus::correct);
  CHECK(helpers.run(TrialStage::check, test::kDeadly).status == TrialStatus::crash);
  CHECK(helpers.run(TrialStage::compile).status == TrialStatus::correct);
  CHECK(helpers.run(TrialStage::check).status == TrialStatus::correct);
  CHECK(helpers.asked() == "rckrck");
}

TEST_CASE("a reference that fails in a new helper is told, and the candidate does not run") {
  const std::pair<const char*, TrialStatus> failures[] = {{"runtime", TrialStatus::runtime},
                                                          {"timeout", TrialStatus::timeout},
                                                          {"abort", TrialStatus::crash}};
  for (const auto& [behaviour, status] : failures) {
    CAPTURE(behaviour);
    WatchedHelpers helpers;
    CHECK(helpers.run(TrialStage::check, test::kDeadly).status == TrialStatus::crash);
    WatchedHelpers::set_reference(behaviour);
    for (int i = 0; i < 2; ++i) {
      const TrialOutcome outcome = helpers.run(TrialStage::compile);
      CHECK(outcome.stage == TrialStage::prepare);
      CHECK_MESSAGE(outcome.status == status, outcome.message);
      CHECK(outcome.reference == ReferenceRun::failed);
      CHECK_FALSE(outcome.ambiguous);
    }
    CHECK(helpers.asked() == "rkrr");
    WatchedHelpers::set_reference("");
    CHECK(helpers.run(TrialStage::compile).status == TrialStatus::correct);
    CHECK(helpers.asked() == "rkrrrc");
  }
}

TEST_CASE("a helper that somebody kills while the reference runs says nothing of the device") {
  WatchedHelpers helpers("killed");
  const TrialOutcome outcome = helpers.run(TrialStage::compile);
  CHECK(outcome.stage == TrialStage::prepare);
  CHECK(outcome.ambiguous);
  CHECK(outcome.reference == ReferenceRun::none);
}

TEST_CASE("a helper that was killed while it had nothing to do is reaped") {
  WatchedHelpers helpers;
  CHECK(helpers.run(TrialStage::compile).status == TrialStatus::correct);
  helpers.trials().reap();  // it lives
  CHECK(helpers.run(TrialStage::check).status == TrialStatus::correct);
  CHECK(helpers.asked() == "rck");
  const std::set<pid_t> helpers_there = test::children_of("self");
  REQUIRE(helpers_there.size() == 1);
  const pid_t helper = *helpers_there.begin();
  REQUIRE(::kill(helper, SIGKILL) == 0);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(helper), &info, WEXITED | WNOWAIT) == 0);
  helpers.trials().reap();
  CHECK(test::children_of("self").empty());
  CHECK(helpers.run(TrialStage::check).status == TrialStatus::correct);
}
