#include "agent/trial/in_process_trials.hpp"

#include <atomic>
#include <utility>

#include "agent/trial/stage_thread.hpp"
#include "agent/trial/trials_in_process.hpp"

namespace idletune {

struct InProcessTrials::State {
  std::unique_ptr<TrialExecutor> executor;
  std::atomic<bool> poisoned{false};
  std::unique_ptr<trial::StageThread> thread;  // last: joined before the rest is gone

  TrialOutcome run(const TrialRequest& request) {
    TrialOutcome result = executor->run(request);
    poisoned.store(executor->poisoned());
    return result;
  }
};

InProcessTrials::InProcessTrials(std::unique_ptr<State> state) : state_(std::move(state)) {}
InProcessTrials::~InProcessTrials() = default;

Result<std::unique_ptr<InProcessTrials>> InProcessTrials::create(
    std::unique_ptr<TrialExecutor> executor) {
  auto state = std::make_unique<State>();
  state->executor = std::move(executor);
  State* shared = state.get();
  auto started = trial::StageThread::create(
      "idletune-trial", [shared](const TrialRequest& request) { return shared->run(request); });
  if (!started) return started.status();
  state->thread = std::move(*started);
  return std::unique_ptr<InProcessTrials>(new InProcessTrials(std::move(state)));
}

Status InProcessTrials::start(const TrialRequest& request) {
  if (poisoned()) {
    return Status(StatusCode::device_error,
                  "a run outlived its deadline: no further trial in this process");
  }
  return state_->thread->start(request);
}

bool InProcessTrials::poll(Nanoseconds wait, TrialOutcome& outcome) {
  return state_->thread->poll(wait, outcome);
}

bool InProcessTrials::poisoned() const { return state_->poisoned.load(); }

namespace {

class Maker final : public TrialsInProcess {
 public:
  Result<std::unique_ptr<TrialRunner>> make(Device& device,
                                            const std::shared_ptr<const KernelPackage>& package,
                                            const TrialExecutorOptions& options,
                                            const QuirkTable& quirks) const override {
    auto trials =
        InProcessTrials::create(std::make_unique<TrialExecutor>(device, package, options, quirks));
    if (!trials.ok()) return trials.status();
    return std::unique_ptr<TrialRunner>(std::move(*trials));
  }
};

}  // namespace

const TrialsInProcess* trials_in_process() {
  static const Maker maker;
  return &maker;
}

}  // namespace idletune
