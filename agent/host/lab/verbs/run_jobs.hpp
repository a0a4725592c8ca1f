// Independent jobs with a line about how far they are.
#pragma once

#include "agent/host/lab/jobs.hpp"
#include "agent/host/report/common.hpp"

namespace idletune::cli {

struct FinishedJobs {
  bool all = false;
  std::vector<bool> finished;  // by job
};

enum class OnInterrupt { give_up, keep_finished };

// Calls job(i) for i = 0 .. total - 1, several at a time. `keep_finished`: an interrupt ends it
// with some that were not called, or that still run: whoever has answered calls end_now(), and what
// the jobs use lives until then. `quiet`: no progress. Error: that of the first job that failed.
Result<FinishedJobs> run_jobs(const char* task, std::size_t total, bool quiet, Jobs::Job job,
                              OnInterrupt on_interrupt);

}  // namespace idletune::cli
