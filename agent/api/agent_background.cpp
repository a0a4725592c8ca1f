#include "agent/api/agent_state.hpp"
#include "agent/journal/event_sink.hpp"
#include "agent/tuning/background_loop.hpp"

namespace idletune::detail {

Status AgentState::start_background(const BackgroundOptions& options) {
  if (options_.mode != Mode::tune) {
    tell(options_, 2, "background tuning does not start: the mode is not 'tune'");
    return {};  // whoever sets the mode in the field must not end the application
  }
  const MutexLock control(control_mutex_);
  if (background_thread_.joinable()) {
    return Status(StatusCode::busy, "background tuning runs already");
  }
  {
    const MutexLock lock(background_mutex_);
    stop_background_ = false;
  }
  log_launches(surroundings_.clock);
  Result<Thread> thread = Thread::start("idletune", ThreadPriority::low,
                                        [this, options] { tune_in_background(options); });
  if (!thread.ok()) {
    log_launches(nullptr);
    return thread.status();
  }
  background_thread_ = std::move(*thread);
  return {};
}

void AgentState::stop_background() {
  const MutexLock control(control_mutex_);
  if (!background_thread_.joinable()) return;
  {
    const MutexLock lock(background_mutex_);
    stop_background_ = true;
  }
  background_changed_.notify_all();
  background_thread_.join();
  log_launches(nullptr);
}

// Of all kernels, those that come later included.
void AgentState::log_launches(const MonotonicClock* clock) {
  const MutexLock lock(mutex_);
  launch_log_clock_ = clock;
  for (const std::unique_ptr<KernelTask>& kernel : engine_->kernels()) {
    kernel->state->log_launches(clock);
  }
}

void AgentState::tune_in_background(const BackgroundOptions& options) {
  BackgroundLoop loop = [&] {
    const MutexLock lock(mutex_);  // as rounds do
    return BackgroundLoop(*engine_, options, surroundings_);
  }();
  for (;;) {
    {
      const MutexLock lock(background_mutex_);
      if (stop_background_) return;
    }
    (void)models_->look();
    Nanoseconds sleep{0};
    {
      const TellsAfter events(options_.events);
      const MutexLock tuning(mutex_);
      sleep = loop.round();
      explain_if_due();
    }
    const auto until = Condition::Clock::now() + sleep;
    const MutexLock lock(background_mutex_);
    while (!stop_background_ && background_changed_.wait_until(background_mutex_, until)) {
    }
  }
}

}  // namespace idletune::detail
