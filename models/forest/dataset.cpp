#include "models/forest/dataset.hpp"

#include <cmath>
#include <string>

namespace idletune::learners {
namespace {

Status wrong(const std::string& what) {
  return Status(StatusCode::invalid_argument, "data to learn from: " + what);
}

std::string place(std::size_t row, std::size_t column) {
  return "row " + std::to_string(row) + ", column " + std::to_string(column);
}

// Whether x is one of 0, 1, ... bound - 1; false for NaN.
bool is_number_below(float x, std::size_t bound) {
  return x >= 0 && x < static_cast<float>(bound) && x == std::floor(x);
}

Status check_sizes(const Dataset& data) {
  if (data.rows() == 0 || data.rows() > kMaxRows) {
    return wrong(std::to_string(data.rows()) + " rows; expected 1 to " + std::to_string(kMaxRows));
  }
  if (data.columns == 0 || data.columns > kMaxFeatures) {
    return wrong(std::to_string(data.columns) + " columns; expected 1 to " +
                 std::to_string(kMaxFeatures));
  }
  if (data.values.size() / data.columns != data.rows() || data.values.size() % data.columns != 0) {
    return wrong(std::to_string(data.values.size()) + " values for " + std::to_string(data.rows()) +
                 " rows of " + std::to_string(data.columns) + " columns");
  }
  if (!data.kinds.empty() && data.kinds.size() != data.columns) {
    return wrong(std::to_string(data.kinds.size()) + " kinds for " + std::to_string(data.columns) +
                 " columns");
  }
  if (data.classes > kMaxClasses) {
    return wrong(std::to_string(data.classes) + " classes; expected at most " +
                 std::to_string(kMaxClasses));
  }
  return {};
}

}  // namespace

Status check(const Dataset& data) {
  if (Status sizes = check_sizes(data); !sizes.ok()) return sizes;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    const Span<const float> row = data.row(r);
    for (std::size_t c = 0; c < data.columns; ++c) {
      if (!std::isfinite(row[c])) return wrong(place(r, c) + ": not a finite number");
      if (data.kind(c) == FeatureKind::categorical && !is_number_below(row[c], kMaxCategories)) {
        return wrong(place(r, c) + ": expected a category number below " +
                     std::to_string(kMaxCategories));
      }
    }
    const float target = data.targets[r];
    if (!std::isfinite(target)) return wrong("target of row " + std::to_string(r) + ": not finite");
    if (data.is_classification() && !is_number_below(target, data.classes)) {
      return wrong("target of row " + std::to_string(r) + ": expected a class number below " +
                   std::to_string(data.classes));
    }
  }
  return {};
}

}  // namespace idletune::learners
