// One low-priority thread that does one job at a time: compilations for launches.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include <idletune/device.hpp>

#include "platform/os/thread.hpp"

namespace idletune::detail {

class Worker {
 public:
  Worker() = default;
  ~Worker();  // waits for the running job
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Starts `job`; the thread is made at the first one. Only while !busy(). Runs it here and now if
  // no thread can be had.
  void start(std::function<void()> job);
  // True while a job is running or its end was not yet noticed by wait().
  bool busy() const { return busy_; }
  // Waits at most `timeout` for the job's end; true when it has ended (or there was none).
  bool wait(Nanoseconds timeout);

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;
  bool job_there_ = false;
  bool job_ended_ = false;
  bool stop_ = false;
  bool busy_ = false;  // of the caller's side only
  Thread thread_;
};

}  // namespace idletune::detail
