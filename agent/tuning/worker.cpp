#include "agent/tuning/worker.hpp"

#include <chrono>

namespace idletune::detail {

Worker::~Worker() {
  if (played_ != nullptr) (void)wait(std::chrono::hours(24));
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Worker::start(std::function<void()> job) {
  if (runs_at_once_) {
    job();
    return;
  }
  if (played_ != nullptr) {
    busy_ = true;
    return played_->start(std::move(job));
  }
  if (!thread_.joinable()) {
    Result<Thread> thread = Thread::start(name_, ThreadPriority::low, [this] { loop(); });
    if (!thread.ok()) {
      job();
      return;
    }
    thread_ = std::move(*thread);
  }
  {
    const MutexLock lock(mutex_);
    job_ = std::move(job);
    job_there_ = true;
    job_ended_ = false;
  }
  busy_ = true;
  changed_.notify_all();
}

bool Worker::wait(Nanoseconds timeout) {
  if (!busy_) return true;
  if (played_ != nullptr) return !(busy_ = !played_->wait(timeout));
  const auto until =
      Condition::Clock::now() + std::min<Nanoseconds>(timeout, std::chrono::hours(1));
  const MutexLock lock(mutex_);
  while (!job_ended_ && changed_.wait_until(mutex_, until)) {
  }
  if (!job_ended_) return false;
  busy_ = false;
  return true;
}

void Worker::loop() {
  const MutexLock lock(mutex_);
  for (;;) {
    while (!stop_ && !job_there_) changed_.wait(mutex_);
    if (!job_there_) return;
    std::function<void()> job = std::move(job_);
    job_there_ = false;
    mutex_.unlock();
    job();
    job = nullptr;
    mutex_.lock();
    job_ended_ = true;
    changed_.notify_all();
  }
}

}  // namespace idletune::detail
