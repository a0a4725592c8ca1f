// Progress on standard error, and Ctrl-C as a polite request to stop.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace idletune::cli {

// "3 s", "2 min 05 s", "1 h 10 min": a duration as one reads it, rounded to what matters.
std::string readable(std::chrono::nanoseconds duration);

// One line about how far a task is: redrawn in place on a terminal, a plain line every five seconds
// elsewhere (log files). Used by one thread. The destructor ends the line.
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
  // Takes the drawn line away, so that other text can be printed; the next update draws it again.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(std::size_t done, const std::string& note, Clock::duration elapsed) const;

  std::string task_;
  std::size_t total_;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_;
  Clock::time_point last_print_;
};

// From now on the first Ctrl-C (SIGINT) or SIGTERM only sets a flag; a second one ends the program.
void catch_interrupts();
// Whether that flag is set. Any thread.
bool interrupted();

}  // namespace idletune::cli
