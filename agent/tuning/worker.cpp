#include "agent/tuning/worker.hpp"

#include <chrono>

namespace idletune::detail {

Worker::~Worker() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
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
  if (!thread_.joinable()) {
    Result<Thread> thread =
        Thread::start("idletune-build", ThreadPriority::low, [this] { loop(); });
    if (!thread.ok()) {
      job();
      return;
    }
    thread_ = std::move(*thread);
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    job_ = std::move(job);
    job_there_ = true;
    job_ended_ = false;
  }
  busy_ = true;
  changed_.notify_all();
}

bool Worker::wait(Nanoseconds timeout) {
  if (!busy_) return true;
  std::unique_lock<std::mutex> lock(mutex_);
  // The system clock's wait: the steady one's needs a glibc newer than some boards have.
  const auto until =
      std::chrono::system_clock::now() + std::min<Nanoseconds>(timeout, std::chrono::hours(1));
  if (!changed_.wait_until(lock, until, [this] { return job_ended_; })) return false;
  busy_ = false;
  return true;
}

void Worker::loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || job_there_; });
    if (!job_there_) return;
    std::function<void()> job = std::move(job_);
    job_there_ = false;
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    job_ended_ = true;
    changed_.notify_all();
  }
}

}  // namespace idletune::detail
