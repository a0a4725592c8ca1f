// Independent jobs with a line about how far they are.
#pragma once

#include <cstddef>

#include "agent/lab/jobs.hpp"

namespace idletune::cli {

inline constexpr unsigned kJobThreads = 2;

// Calls job(i) for i = 0 .. total - 1, several at a time. False: the user interrupted it; then some
// were not called. `quiet`: no progress. Error: that of the first job that failed.
Result<bool> run_jobs(const char* task, std::size_t total, bool quiet, Jobs::Job job);

}  // namespace idletune::cli
