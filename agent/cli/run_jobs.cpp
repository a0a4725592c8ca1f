#include "agent/cli/run_jobs.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "agent/cli/progress.hpp"

namespace idletune::cli {

Result<bool> run_jobs(const char* task, std::size_t total, bool quiet, Jobs::Job job) {
  Jobs jobs(0, total, kJobThreads, std::move(job), interrupted);
  Progress progress(task, total, quiet);
  while (jobs.running()) {
    progress.update(jobs.done());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (Status status = jobs.wait(); !status.ok()) return status;
  return jobs.done() == total;
}

}  // namespace idletune::cli
