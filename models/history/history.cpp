#include "models/history/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace idletune {

Configuration History::configuration(std::size_t row) const {
  Configuration values;
  for (const CellColumn& parameter : parameters) values.push_back(parameter.code(row));
  return values;
}

std::vector<std::string> History::parameter_names() const {
  std::vector<std::string> names;
  for (const CellColumn& parameter : parameters) names.push_back(parameter.name());
  return names;
}

std::vector<std::size_t> History::sample_offsets() const {
  std::vector<std::size_t> offsets{0};
  for (const std::uint32_t count : sample_count) offsets.push_back(offsets.back() + count);
  return offsets;
}

std::size_t History::count(TrialStatus wanted) const {
  return static_cast<std::size_t>(std::count(status.begin(), status.end(), wanted));
}

double History::best_time_ns() const {
  double best = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t row = 0; row < rows(); ++row) {
    if (correct(row) && !(run_time_ns(row) >= best)) best = run_time_ns(row);
  }
  return best;
}

Result<Space> space_of(const History& history) {
  const std::vector<std::string> names = history.parameter_names();
  std::vector<std::int64_t> rows;
  rows.reserve(history.rows() * names.size());
  for (std::size_t row = 0; row < history.rows(); ++row) {
    for (const CellColumn& parameter : history.parameters) rows.push_back(parameter.code(row));
  }
  Result<Space> space = Space::from_rows(names, {}, {}, rows);
  if (space.ok()) return space;
  return Status(space.code(), "history of " + history.kernel + " on " + history.device + ": " +
                                  space.status().message());
}

}  // namespace idletune
