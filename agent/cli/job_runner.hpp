// Many independent jobs on two threads, with a line of progress.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include <idletune/result.hpp>

#include "agent/cli/progress.hpp"

namespace idletune::cli {

// Two threads take jobs in turn, with a line of progress; Ctrl-C and the first failure end the
// work.
class JobRunner {
 public:
  static constexpr unsigned kThreads = 2;

  JobRunner(const char* task, std::size_t total, bool quiet)
      : task_(task), total_(total), quiet_(quiet) {}

  // Runs `job(i)` for i = 0 .. total - 1, each a Status. False if interrupted or failed.
  template <typename Job>
  bool run(Job job) {
    std::vector<std::thread> threads;
    running_ = kThreads;
    for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back([&] { work(job); });
    Progress progress(task_, total_, quiet_);
    while (running_.load() > 0) {
      progress.update(done_.load());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    for (std::thread& thread : threads) thread.join();
    return done_.load() >= total_ && failure_.ok();
  }
  const Status& failure() const { return failure_; }

 private:
  template <typename Job>
  void work(Job& job) {
    for (;;) {
      const std::size_t number = next_++;
      if (number >= total_ || interrupted() || failed_.load()) break;
      const Status status = job(number);
      if (!status.ok()) {
        const std::lock_guard<std::mutex> lock(mutex_);
        failure_ = status;
        failed_ = true;
      }
      ++done_;
    }
    --running_;
  }

  const char* task_;
  std::size_t total_;
  bool quiet_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> done_{0};
  std::atomic<unsigned> running_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Status failure_;
};

}  // namespace idletune::cli
