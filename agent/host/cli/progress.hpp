// Progress on standard error.
#pragma once

#include "agent/host/report/common.hpp"

namespace idletune::cli {

// "12.5 us", "3.00 s", "2 min 05 s", "1 h 10 min": a duration as one reads it, rounded to what
// matters.
std::string readable(std::chrono::nanoseconds duration);

// One line about how far a task is: redrawn in place on a terminal, a plain line every five seconds
// elsewhere (log files). Used by one thread. The destructor takes the line away.
class Progress {
 public:
  // `total` is the number of units of the whole task; 0 where it is not known (no bar, no ETA).
  // A quiet one prints nothing.
  explicit Progress(std::string task, std::size_t total, bool quiet = false);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` units are finished. `note` says what is going on (one short line; may be empty).
  void update(std::size_t done, const std::string& note = {});
  // Takes the drawn line away, whoever drew it, so that other text can be printed; the next update
  // draws it again.
  static void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(std::size_t done, const std::string& note, Clock::duration elapsed) const;

  std::string task_;
  std::size_t total_;
  bool quiet_;
  bool terminal_;
  Clock::time_point start_;
  Clock::time_point last_print_;
};

}  // namespace idletune::cli
