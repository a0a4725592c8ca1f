// One low-priority thread, or the caller's, that does one job at a time.
#pragma once

#include <functional>
#include <memory>

#include <idletune/device.hpp>

#include "agent/tuning/surroundings.hpp"
#include "platform/os/mutex.hpp"
#include "platform/os/thread.hpp"

namespace idletune::detail {

class Worker {
 public:
  Worker(const char* name, const Surroundings& surroundings)
      : name_(name),
        runs_at_once_(surroundings.builds == BuildThread::caller),
        played_(surroundings.played != nullptr ? surroundings.played->jobs() : nullptr) {}
  ~Worker();  // waits for the running job
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Starts `job`; the thread is made at the first one. Only while !busy(). With
  // BuildThread::caller, or if no thread can be had, it has ended when this returns.
  void start(std::function<void()> job);
  // True while a job is running or its end was not yet noticed by wait().
  bool busy() const { return busy_; }
  // Waits at most `timeout` for the job's end; true when it has ended (or there was none).
  bool wait(Nanoseconds timeout);

 private:
  void loop();

  const char* const name_;  // of the thread
  const bool runs_at_once_;
  const std::unique_ptr<PlayedJobs> played_;  // null: there is a thread
  Mutex mutex_;
  Condition changed_;
  std::function<void()> job_ IDLETUNE_GUARDED_BY(mutex_);
  bool job_there_ IDLETUNE_GUARDED_BY(mutex_) = false;
  bool job_ended_ IDLETUNE_GUARDED_BY(mutex_) = false;
  bool stop_ IDLETUNE_GUARDED_BY(mutex_) = false;
  bool busy_ = false;  // of the caller's side only
  Thread thread_;
};

}  // namespace idletune::detail
