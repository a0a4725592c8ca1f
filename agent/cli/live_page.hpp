// A page about an exploration that is under way; the browser reads it again every few seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <idletune/result.hpp>

#include "models/history/history.hpp"

namespace idletune::cli {

// Used by one thread.
class LivePage {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned kRenewSeconds = 3;

  explicit LivePage(std::string path) : path_(std::move(path)) {}
  // Whether it is time to write again: at most every kRenewSeconds, and writing takes at most a
  // twentieth of the time.
  bool due() const;
  // What was measured so far, in the order in which it was. `total`: of the whole task. `over`: the
  // last time; the page then renews itself no more. Errors: those of writing.
  Status write(const History& history, const std::vector<double>& times_ns, std::uint64_t total,
               double default_ns, bool over);

 private:
  std::string path_;
  Clock::time_point next_{};
};

}  // namespace idletune::cli
