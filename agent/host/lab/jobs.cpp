#include "agent/host/lab/jobs.hpp"

#include <utility>

namespace idletune {

Jobs::Jobs(std::size_t first, std::size_t last, unsigned threads, Job job, bool (*stop)())
    : job_(std::move(job)), last_(last), stop_(stop), next_(first), running_(threads) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Jobs::~Jobs() { (void)wait(); }

Status Jobs::wait() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  const MutexLock lock(mutex_);
  return failure_;
}

void Jobs::work() {
  while (!failed_.load() && (stop_ == nullptr || !stop_())) {
    const std::size_t i = next_++;
    if (i >= last_) break;
    if (Status status = job_(i); status.ok()) {
      ++done_;
    } else if (!failed_.exchange(true)) {
      const MutexLock lock(mutex_);
      failure_ = std::move(status);
    }
  }
  --running_;
}

}  // namespace idletune
