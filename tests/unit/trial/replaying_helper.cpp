// A helper that has no device: it speaks the protocol of idletune-helper and answers with trials of
// the kernel of tests/unit/agent/played_kernel.hpp. It shows processes, channels and messages where
// there is no driver, as under an emulated processor.
#include <cstdlib>
#include <memory>

#include "agent/lab/replayed_trials.hpp"
#include "agent/lab/scripted_clock.hpp"
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
    if (request.configuration == test::kDeadly && request.stage == TrialStage::check) std::abort();
    TrialOutcome outcome;
    if (trials_.start(request).ok()) (void)trials_.poll(kForEver, outcome);
    return outcome;
  }
  bool poisoned() const override { return false; }

 private:
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
