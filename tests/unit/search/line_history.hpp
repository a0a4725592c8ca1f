// Histories of a kernel with one parameter.
#pragma once

#include <cmath>
#include <cstdint>

#include "models/host/history/history.hpp"

namespace idletune::test {

// x = 0 ... size - 1, all correct; times in ms.
template <class TimeOf>
History line_history(std::int64_t size, double compile_ms, const TimeOf& run_ms) {
  History history;
  history.kernel = "line";
  history.device = "Board";
  history.nanoseconds_per_unit = 1e6;
  history.parameters.emplace_back("x");
  for (std::int64_t i = 0; i < size; ++i) {
    history.parameters[0].push_integer(i);
    history.status.push_back(TrialStatus::correct);
    history.run_time.push_back(run_ms(i));
    history.compile_time.push_back(compile_ms);
    history.sample_count.push_back(0);
  }
  return history;
}

// Those from that row on violate a constraint.
inline void constrain_from(std::size_t row, History& history) {
  for (; row < history.rows(); ++row) {
    history.status[row] = TrialStatus::constraints;
    history.run_time[row] = history.compile_time[row] = std::nan("");
  }
}

}  // namespace idletune::test
