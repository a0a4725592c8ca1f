#include "agent/trial/stage_thread.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "platform/os/mutex.hpp"
#include "platform/os/thread.hpp"

namespace idletune::trial {
namespace {

// Deadlines far away overflow the clock.
constexpr Nanoseconds kLongestWait = std::chrono::hours(24);

enum class Phase : std::uint8_t { idle, running, ended };

}  // namespace

struct StageThread::State {
  Body body;
  Mutex mutex;
  Condition changed;
  Phase phase IDLETUNE_GUARDED_BY(mutex) = Phase::idle;
  bool leave IDLETUNE_GUARDED_BY(mutex) = false;
  TrialRequest request IDLETUNE_GUARDED_BY(mutex);
  TrialOutcome outcome IDLETUNE_GUARDED_BY(mutex);
  Thread thread;  // last: joined before the rest is gone

  void run() {
    const MutexLock lock(mutex);
    for (;;) {
      while (!leave && phase != Phase::running) changed.wait(mutex);
      if (leave) return;
      const TrialRequest current = request;
      mutex.unlock();
      TrialOutcome result = body(current);
      mutex.lock();
      outcome = std::move(result);
      phase = Phase::ended;
      changed.notify_all();
    }
  }
};

StageThread::StageThread(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<StageThread>> StageThread::create(const char* name, Body body) {
  auto state = std::make_unique<State>();
  state->body = std::move(body);
  State* shared = state.get();
  Result<Thread> thread = Thread::start(name, ThreadPriority::low, [shared] { shared->run(); });
  if (!thread) return thread.status();
  state->thread = std::move(*thread);
  return std::unique_ptr<StageThread>(new StageThread(std::move(state)));
}

StageThread::~StageThread() {
  {
    const MutexLock lock(state_->mutex);
    state_->leave = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

Status StageThread::start(const TrialRequest& request) {
  const MutexLock lock(state_->mutex);
  if (state_->phase != Phase::idle) {
    return Status(StatusCode::busy, "a stage is running, or its outcome was not taken");
  }
  state_->request = request;
  state_->phase = Phase::running;
  state_->changed.notify_all();
  return {};
}

bool StageThread::poll(Nanoseconds wait, TrialOutcome& outcome) {
  const auto until = Condition::Clock::now() + std::min(wait, kLongestWait);
  const MutexLock lock(state_->mutex);
  while (wait.count() > 0 && state_->phase == Phase::running &&
         state_->changed.wait_until(state_->mutex, until)) {
  }
  if (state_->phase != Phase::ended) return false;
  outcome = std::move(state_->outcome);
  state_->phase = Phase::idle;
  return true;
}

bool StageThread::runs() const {
  const MutexLock lock(state_->mutex);
  return state_->phase == Phase::running;
}

void StageThread::wait_until_idle() {
  const MutexLock lock(state_->mutex);
  while (state_->phase == Phase::running) state_->changed.wait(state_->mutex);
}

}  // namespace idletune::trial
