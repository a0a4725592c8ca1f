// What learners learn from: rows of features and a target per row, all owned by somebody else.
#pragma once

#include <cstddef>
#include <cstdint>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune::learners {

enum class FeatureKind : std::uint8_t {
  numeric = 0,     // ordered; any finite number
  categorical = 1  // a category number 0 ... kMaxCategories - 1; no order
};

inline constexpr std::size_t kMaxFeatures = 1024;
inline constexpr std::size_t kMaxCategories = 32;  // a split's set of categories is one 32-bit word
inline constexpr std::size_t kMaxClasses = 4096;
inline constexpr std::size_t kMaxLevels = std::size_t{1} << 16;  // distinct values of a column
inline constexpr std::size_t kMaxRows = std::size_t{1} << 20;

struct Dataset {
  Span<const float> values;       // row by row, `columns` values each
  std::size_t columns = 0;        // features
  Span<const FeatureKind> kinds;  // per column; empty: all numeric
  Span<const float> targets;      // per row; for classification class numbers 0 ... classes - 1
  std::uint32_t classes = 0;      // 0: regression

  std::size_t rows() const { return targets.size(); }
  Span<const float> row(std::size_t i) const { return {values.data() + i * columns, columns}; }
  FeatureKind kind(std::size_t column) const {
    return kinds.empty() ? FeatureKind::numeric : kinds[column];
  }
  bool is_classification() const { return classes != 0; }
};

// Errors: invalid_argument, naming row and column, if there is no row or no column, sizes disagree
// or exceed the limits above, a number is not finite, or a category or class is none.
Status check(const Dataset& data);

}  // namespace idletune::learners
