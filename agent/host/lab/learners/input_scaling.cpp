#include "agent/host/lab/learners/input_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace idletune::learners {
namespace {

InputColumn categorical_column(const Dataset& data, std::size_t c) {
  InputColumn column;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    column.categories = std::max(column.categories, static_cast<std::uint32_t>(data.row(r)[c]) + 1);
  }
  return column;
}

InputColumn standardized_column(const Dataset& data, std::size_t c) {
  const double count = static_cast<double>(data.rows());
  double sum = 0, squares = 0;
  for (std::size_t r = 0; r < data.rows(); ++r) sum += static_cast<double>(data.row(r)[c]);
  const double mean = sum / count;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    const double distance = static_cast<double>(data.row(r)[c]) - mean;
    squares += distance * distance;
  }
  InputColumn column;
  column.offset = static_cast<float>(mean);
  column.factor = squares > 0 ? static_cast<float>(std::sqrt(count / squares)) : 0.0f;
  if (!std::isfinite(column.factor)) column.factor = 0;
  return column;
}

}  // namespace

Result<std::vector<InputColumn>> input_columns(const Dataset& data, bool standardize) {
  std::vector<InputColumn> columns;
  for (std::size_t c = 0; c < data.columns; ++c) {
    if (data.kind(c) == FeatureKind::categorical) {
      columns.push_back(categorical_column(data, c));
    } else {
      columns.push_back(standardize ? standardized_column(data, c) : InputColumn());
    }
  }
  if (input_width(columns) > kMaxInputs) {
    return Status(StatusCode::invalid_argument, "data to learn from: numbers and categories make " +
                                                    std::to_string(input_width(columns)) +
                                                    " inputs; expected at most " +
                                                    std::to_string(kMaxInputs));
  }
  return columns;
}

TargetScale target_scale(const Dataset& data) {
  const double count = static_cast<double>(data.rows());
  TargetScale scale;
  for (const float target : data.targets) scale.mean += static_cast<double>(target) / count;
  double squares = 0;
  for (const float target : data.targets) {
    const double distance = static_cast<double>(target) - scale.mean;
    squares += distance * distance;
  }
  if (squares > 0) scale.deviation = std::sqrt(squares / count);
  return scale;
}

}  // namespace idletune::learners
