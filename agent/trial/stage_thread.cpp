#include "agent/trial/stage_thread.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "platform/os/thread.hpp"

namespace idletune::trial {
namespace {

// Deadlines far away overflow the clock.
constexpr Nanoseconds kLongestWait = std::chrono::hours(24);

enum class Phase : std::uint8_t { idle, running, ended };

}  // namespace

struct StageThread::State {
  Body body;
  std::mutex mutex;
  std::condition_variable changed;
  Phase phase = Phase::idle;
  bool leave = false;
  TrialRequest request;
  TrialOutcome outcome;
  Thread thread;  // last: joined before the rest is gone

  void run() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return leave || phase == Phase::running; });
      if (leave) return;
      const TrialRequest current = request;
      lock.unlock();
      TrialOutcome result = body(current);
      lock.lock();
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
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->leave = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

Status StageThread::start(const TrialRequest& request) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->phase != Phase::idle) {
    return Status(StatusCode::busy, "a stage is running, or its outcome was not taken");
  }
  state_->request = request;
  state_->phase = Phase::running;
  state_->changed.notify_all();
  return {};
}

bool StageThread::poll(Nanoseconds wait, TrialOutcome& outcome) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  if (wait.count() > 0 && state_->phase == Phase::running) {
    state_->changed.wait_for(lock, std::min(wait, kLongestWait),
                             [this] { return state_->phase != Phase::running; });
  }
  if (state_->phase != Phase::ended) return false;
  outcome = std::move(state_->outcome);
  state_->phase = Phase::idle;
  return true;
}

void StageThread::wait_until_idle() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->phase != Phase::running; });
}

}  // namespace idletune::trial
