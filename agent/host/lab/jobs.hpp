// Independent jobs, some at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include <idletune/result.hpp>

#include "platform/os/mutex.hpp"

namespace idletune {

inline constexpr unsigned kJobThreads = 2;  // of the lab's figures

// Calls job(i) for every i from `first` to before `last`, on `threads` threads, until all are done,
// one fails, or `stop` (may be null) says so. Jobs run at the same time: each writes to places of
// its own. Used by one thread.
class Jobs {
 public:
  using Job = std::function<Status(std::size_t)>;

  Jobs(std::size_t first, std::size_t last, unsigned threads, Job job, bool (*stop)() = nullptr);
  ~Jobs();  // waits
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  bool running() const { return running_.load() > 0; }
  std::size_t done() const { return done_.load(); }
  // Error: that of the first job that failed.
  Status wait();

 private:
  void work();

  const Job job_;
  const std::size_t last_;
  bool (*const stop_)();
  std::atomic<std::size_t> next_;
  std::atomic<std::size_t> done_{0};
  std::atomic<unsigned> running_;
  std::atomic<bool> failed_{false};
  Mutex mutex_;
  Status failure_ IDLETUNE_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace idletune
