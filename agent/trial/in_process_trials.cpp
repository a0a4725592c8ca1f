#include "agent/trial/in_process_trials.hpp"

#include <atomic>
#include <utility>

#include "agent/trial/stage_thread.hpp"

namespace idletune {

struct InProcessTrials::State {
  std::unique_ptr<TrialExecutor> executor;
  std::atomic<bool> poisoned{false};
  // TrialThread::caller: the outcome that poll() has not taken yet.
  bool has_outcome = false;
  TrialOutcome outcome;
  // TrialThread::own; else null. Last: joined before the rest is gone.
  std::unique_ptr<trial::StageThread> thread;

  TrialOutcome run(const TrialRequest& request) {
    TrialOutcome result = executor->run(request);
    poisoned.store(executor->poisoned());
    return result;
  }
};

InProcessTrials::InProcessTrials(std::unique_ptr<State> state) : state_(std::move(state)) {}
InProcessTrials::~InProcessTrials() = default;

Result<std::unique_ptr<InProcessTrials>> InProcessTrials::create(
    std::unique_ptr<TrialExecutor> executor, TrialThread thread) {
  auto state = std::make_unique<State>();
  state->executor = std::move(executor);
  if (thread == TrialThread::own) {
    State* shared = state.get();
    auto started = trial::StageThread::create(
        "idletune-trial", [shared](const TrialRequest& request) { return shared->run(request); });
    if (!started) return started.status();
    state->thread = std::move(*started);
  }
  return std::unique_ptr<InProcessTrials>(new InProcessTrials(std::move(state)));
}

Status InProcessTrials::start(const TrialRequest& request) {
  if (poisoned()) {
    return Status(StatusCode::device_error,
                  "a run outlived its deadline: no further trial in this process");
  }
  if (state_->thread) return state_->thread->start(request);
  if (state_->has_outcome) return Status(StatusCode::busy, "the last outcome was not taken");
  state_->outcome = state_->run(request);
  state_->has_outcome = true;
  return {};
}

bool InProcessTrials::poll(Nanoseconds wait, TrialOutcome& outcome) {
  if (state_->thread) return state_->thread->poll(wait, outcome);
  if (!state_->has_outcome) return false;
  outcome = std::move(state_->outcome);
  state_->has_outcome = false;
  return true;
}

bool InProcessTrials::poisoned() const { return state_->poisoned.load(); }

}  // namespace idletune
