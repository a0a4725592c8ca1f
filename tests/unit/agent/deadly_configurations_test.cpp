// Broken, endless and deadly configurations on a real OpenCL device: none reaches the application.
#include <idletune/agent.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/journal/summary.hpp"
#include "tests/unit/agent/application_child.hpp"
#include "tests/unit/agent/checked_work.hpp"
#include "tests/unit/agent/tuned_packages.hpp"
#include "tests/unit/agent/watched_agent.hpp"
#include "tests/unit/os/temporary_folder.hpp"

using namespace idletune;
using namespace idletune::test;
using namespace std::chrono_literals;

namespace {

// An agent on the state folder that tunes until nothing is left to try; every launch meanwhile runs
// what is right.
template <class Work>
struct Tuned {
  Tuned(const std::string& state, const std::vector<std::uint8_t>& package, Work& work)
      : agent(open_agent(options_with(state, messages))),
        kernel(load(agent, work.application.device(), package)) {
    CHECK(work.wrong(kernel) == 0);
    after = tune_all(agent, kernel, work.shape, [&] {
      CHECK(explain(kernel, work.shape).running[0] == 0);
      CHECK(work.wrong(kernel) == 0);
    });
  }
  Messages messages;
  Agent agent;
  TunedKernel kernel;
  Explanation after;
};

}  // namespace

TEST_CASE(
    "no wrong configuration of the broken kernel ever runs, and an endless one is quarantined") {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  KernelDescription kernel = broken_kernel();
  // Each endless one spins for the 15 s that a first launch may take.
  kernel.constraints.emplace_back("BUG != 7 || TILE == 8");
  const std::vector<std::uint8_t> package = packed(kernel);
  Transposition work;
  {
    Tuned tuned(state, package, work);
    INFO(tuned.messages.text());
    CHECK(tuned.after.evaluated == 18);  // all but the default
    CHECK(tuned.after.rejected == 17);
    CHECK(tuned.after.quarantined == 1);
    CHECK(tuned.messages.count("BUG=7 TILE=8: reject_failed (timeout") == 1);
    CHECK(tuned.messages.count("BUG=8 TILE=8: reject_failed (constraints") == 1);
    for (const char* wrong : {"1", "2", "3", "4", "5", "6", "9"}) {
      CHECK(tuned.messages.count("BUG=" + std::string(wrong) +
                                 " TILE=8: reject_failed (correctness") == 1);
    }
    CHECK(tuned.agent.status().tuning_enabled);
    CHECK(tuned.agent.status().storage.ok());
  }
  const std::vector<journal::Quarantine> kept = quarantines_of(state);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].reason == journal::QuarantineReason::hang);
  CHECK(kept[0].trial.configuration == Configuration{7, 8});

  Tuned tuned(state, package, work);
  INFO(tuned.messages.text());
  CHECK(tuned.messages.count("BUG=") == 0);  // nothing was tried
  CHECK(tuned.after.running[0] == 0);
  CHECK(tuned.after.evaluated == 18);
  CHECK(tuned.after.quarantined == 1);
}

TEST_CASE(
    "a configuration that crashes takes the helper, not the application, and is never tried "
    "again") {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  const std::vector<std::uint8_t> package = packed(fatal_kernel("FATAL == 1 && WIDTH == 32"));
  Doubling work;
  {
    Tuned tuned(state, package, work);
    INFO(tuned.messages.text());
    CHECK(tuned.after.evaluated >= 4);  // a close one may come back
    CHECK(tuned.after.rejected == 1);
    CHECK(tuned.after.quarantined == 1);
    CHECK(tuned.after.running[0] == 0);
    CHECK(tuned.messages.count("FATAL=1 WIDTH=32: reject_failed (crash") == 1);
    CHECK(tuned.messages.count("SIGILL") >= 1);
    CHECK(tuned.agent.status().tuning_enabled);
  }
  const std::vector<journal::Quarantine> kept = quarantines_of(state);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].reason == journal::QuarantineReason::crash);
  CHECK(kept[0].trial.configuration == Configuration{1, 32});

  Tuned tuned(state, package, work);
  INFO(tuned.messages.text());
  CHECK(tuned.messages.count("FATAL=1 WIDTH=32") == 0);
  CHECK(tuned.after.quarantined == 1);
}

TEST_CASE("many crashes end tuning for the process, and the next one goes on with the rest") {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  const std::vector<std::uint8_t> package = packed(fatal_kernel("FATAL == 1"));
  for (const bool first : {true, false}) {
    CAPTURE(first);
    Doubling work;
    Tuned tuned(state, package, work);
    INFO(tuned.messages.text());
    CHECK(tuned.agent.status().tuning_enabled != first);
    CHECK(tuned.after.quarantined == (first ? 3 : 4));
    CHECK(tuned.messages.count("(crash") == (first ? 3 : 1));
    CHECK(tuned.after.running[0] == 0);
    CHECK(tuned.agent.tune_now(100ms).stages == 0);
  }
}

TEST_CASE("in the application's process a deadly configuration kills it once and never again") {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  const std::string package = write_package(folder, fatal_kernel("FATAL == 2 && WIDTH == 32"));
  Process first(package, state, "in_process", {1000});
  const ExitStatus death = first.wait();
  INFO(first.text());
  CHECK(death.kind == ExitStatus::Kind::signaled);
  CHECK(death.value == SIGABRT);

  Process second(package, state, "in_process", {1000});
  const ExitStatus survived = second.wait();
  INFO(second.text());
  CHECK_MESSAGE(survived.clean(), survived.to_string());
  CHECK(second.count("FATAL=2") == 0);
  // What was rejected on noise though it measured faster comes back once at the next start.
  CHECK(first.count(": FATAL=0 ") + second.count(": FATAL=0 ") >= 3);
  // Nobody saw the first death; suspects do not run here, so there is no second one.
  // Launches of what had just been adopted may have been the cause as well.
  const std::vector<Configuration> kept = suspects_of(state);
  CHECK(std::count(kept.begin(), kept.end(), Configuration{2, 32}) == 1);
  CHECK(kept.size() <= 1 + first.count(": adopt ("));

  Process third(package, state, "in_process", {1000});
  CHECK(third.wait().clean());
  INFO(third.text());
  CHECK(third.count("FATAL=2") == 0);
  CHECK(suspects_of(state) == kept);
  CHECK(quarantines_of(state).empty());
}

TEST_CASE("in the application's process an endless configuration ends tuning and nothing else") {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  KernelDescription kernel = broken_kernel();
  kernel.constraints = {DescribedExpression("BUG == 0 || (BUG == 7 && TILE == 8)")};
  const std::string package = write_package(folder, kernel);
  const Shape shape{100, 70};
  bool met = false;
  for (int start = 0; start < 2; ++start) {
    Process process(package, state, "in_process", shape);
    CHECK(process.read_until("end ", kPatience));
    CAPTURE(process.text());
    met = met || process.count("BUG=7 TILE=8: reject_failed (timeout") == 1;
    CHECK(process.count("BUG=7") <= 1);
    process.kill();  // its device is occupied for good
    CHECK(quarantines_of(state).size() == 1);
  }
  CHECK(met);
}
