// Training data in the form that split search wants: small integers, column by column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/forest/dataset.hpp"

namespace idletune::learners {

// Each value is replaced by its code, the number of its level among the column's sorted distinct
// values, so that splits are searched exactly and without sorting. Regression targets become
// integers: steps of a power of two that resolve 2^-31 of their range, measured from its middle.
// Sums of them are exact in any order, so that equal splits compare equal on every architecture.
// Immutable.
class CodedTable {
 public:
  // Errors: what check(data) says; invalid_argument if a column has more than 65,536 levels.
  static Result<CodedTable> build(const Dataset& data);

  std::size_t rows() const { return targets_.size(); }
  std::size_t columns() const { return kinds_.size(); }
  std::uint32_t classes() const { return classes_; }
  FeatureKind kind(std::size_t column) const { return kinds_[column]; }
  Span<const std::uint16_t> codes(std::size_t column) const {
    return {codes_.data() + column * rows(), rows()};
  }
  Span<const float> levels(std::size_t column) const {
    return {levels_.data() + level_starts_[column],
            level_starts_[column + 1] - level_starts_[column]};
  }
  std::size_t max_levels() const { return max_levels_; }
  // Class numbers, or regression targets in steps: at most 2^30 from 0.
  Span<const std::int32_t> targets() const { return targets_; }
  double offset() const { return offset_; }  // target = offset + steps * step
  double step() const { return step_; }      // a power of two

  // Most bytes that build() takes for data of this size, the data themselves not counted.
  static std::size_t bytes_needed(std::size_t rows, std::size_t columns);

 private:
  Status code_column(const Dataset& data, std::size_t column);
  void code_targets(const Dataset& data);
  std::vector<FeatureKind> kinds_;
  std::vector<std::uint16_t> codes_;
  std::vector<float> levels_;
  std::vector<std::uint32_t> level_starts_;
  std::vector<std::int32_t> targets_;
  std::size_t max_levels_ = 0;
  std::uint32_t classes_ = 0;
  double offset_ = 0;
  double step_ = 1;
};

}  // namespace idletune::learners
