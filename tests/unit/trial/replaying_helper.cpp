// A helper that has no device: it speaks the protocol of idletune-helper and answers with trials of
// the kernel of tests/unit/agent/played_kernel.hpp. It shows processes, channels and messages where
// there is no driver, as under an emulated processor.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

#include "agent/host/lab/replayed_trials.hpp"
#include "agent/host/lab/scripted_clock.hpp"
#include "agent/trial/helper_conversation.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/process.hpp"
#include "tests/unit/agent/played_times.hpp"

namespace idletune {
namespace {

constexpr Nanoseconds kForEver = std::chrono::hours(1);

class ReplayServer final : public StageServer {
 public:
  Status set_up(wire::Setup setup) override {
    if (setup.device.platform != "test") {
      return Status(StatusCode::not_found, "this helper plays devices of the platform 'test' only");
    }
    auto package = KernelPackage::open(std::move(setup.package), "package from the application");
    if (!package) return package.status();
    if ((*package)->name() == "play") return {};
    return Status(StatusCode::not_found, "this helper plays the kernel 'play' only");
  }

  TrialOutcome run(const TrialRequest& request) override {
    note(request.only_warm_up ? "r" : kLetters[static_cast<std::size_t>(request.stage)]);
    if (request.only_warm_up) return run_reference();
    if (request.configuration == test::kDeadly && request.stage == TrialStage::check) std::abort();
    TrialOutcome outcome;
    if (trials_.start(request).ok()) (void)trials_.poll(kForEver, outcome);
    return outcome;
  }
  bool poisoned() const override { return false; }

 private:
  static constexpr const char* kLetters[] = {"c", "p", "k", "m"};

  // What a test may ask it to do, and to write down.
  static std::string told(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr ? value : "";
  }
  static void note(const char* letter) {
    const std::string path = told("IDLETUNE_TEST_ASKED");
    if (!path.empty()) std::ofstream(path, std::ios::app) << letter;
  }
  static TrialOutcome run_reference() {
    const std::string behaviour = told("IDLETUNE_TEST_REFERENCE");
    if (behaviour == "abort") std::abort();
    if (behaviour == "killed") (void)::raise(SIGKILL);
    TrialOutcome outcome;
    outcome.stage = TrialStage::prepare;
    if (behaviour == "runtime") outcome.status = TrialStatus::runtime;
    if (behaviour == "timeout") outcome.status = TrialStatus::timeout;
    return outcome;
  }

  ScriptedClock clock_;
  ReplayedTrials trials_{[](const TrialRequest& request) {
                           return stage_of(test::played(request.configuration), request);
                         },
                         clock_};
};

}  // namespace
}  // namespace idletune

int main() {
  auto channel = idletune::join_parent();
  if (!channel) return 1;
  idletune::ReplayServer server;
  idletune::serve_trials(std::move(*channel), server);
}
