#include "models/host/history/history.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "models/core/number_text.hpp"
#include "models/host/history/carried.hpp"

namespace idletune {

std::vector<std::size_t> History::valid_rows() const {
  std::vector<std::size_t> valid;
  for (std::size_t row = 0; row < rows(); ++row) {
    if (status[row] != TrialStatus::constraints) valid.push_back(row);
  }
  return valid;
}

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

const CellColumn* History::proposals() const { return extra_named(*this, kProposalColumn); }

double History::best_time_ns() const {
  double best = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t row = 0; row < rows(); ++row) {
    if (correct(row) && !(run_time_ns(row) >= best)) best = run_time_ns(row);
  }
  return best;
}

namespace {

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

}  // namespace

bool operator==(const History& a, const History& b) {
  const bool same_header = a.kernel == b.kernel && a.device == b.device && a.driver == b.driver &&
                           a.shape == b.shape && a.inputs == b.inputs &&
                           a.nanoseconds_per_unit == b.nanoseconds_per_unit &&
                           a.valid_count == b.valid_count && a.constraints == b.constraints &&
                           a.notes == b.notes && a.warnings == b.warnings;
  return same_header && a.parameters == b.parameters && a.status == b.status &&
         same_bits(a.run_time, b.run_time) && same_bits(a.compile_time, b.compile_time) &&
         a.sample_count == b.sample_count && same_bits(a.samples, b.samples) &&
         a.extras == b.extras;
}

std::string problem_text(const History& history) {
  const Shape& shape = history.shape;
  const bool named = history.inputs.size() == shape.input_count();
  std::string text;
  for (std::size_t i = 0; i < shape.input_count(); ++i) {
    if (i > 0) text += named || i >= shape.size() ? " " : "x";
    if (named) text += history.inputs[i] + "=";
    text += i < shape.size() ? std::to_string(shape[i]) : number_text(shape.input(i), 6);
  }
  return text;
}

namespace {

bool same_names(const std::vector<CellColumn>& a, const std::vector<CellColumn>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const CellColumn& x, const CellColumn& y) { return x.name() == y.name(); });
}

}  // namespace

bool can_share_file(const History& a, const History& b) {
  return a.kernel == b.kernel && a.device == b.device && a.driver == b.driver &&
         a.inputs == b.inputs && a.shape.size() == b.shape.size() &&
         a.shape.feature_count() == b.shape.feature_count() &&
         a.nanoseconds_per_unit == b.nanoseconds_per_unit && a.constraints == b.constraints &&
         same_names(a.parameters, b.parameters);
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
