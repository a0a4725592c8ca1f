// Predicting for a whole tuning space at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/forest/forest.hpp"
#include "models/forest/tree_view.hpp"

namespace idletune::learners {

// Many rows of small numbers, kept as bit slices: bit b of a column's numbers in 64 neighbouring
// rows is one word (O'Neil & Quass 1997). A split then sends 64 rows left or right with a few
// logical operations, and a tree is walked once per 64 rows with a word that says which of them are
// here. Rows that are neighbours in the space take few different paths. A space of 20,000
// configurations of 14 parameters with 4 values each takes 70 KB. Immutable once its rows are set.
class SlicedRows {
 public:
  // `rows` rows of zeros, to be set one by one before they are predicted for; column c holds 0, 1,
  // ... levels[c] - 1. Errors: invalid_argument for no column, too many columns, or levels that are
  // not 1 to 65,536; out_of_memory if more than max_bytes were needed.
  static Result<SlicedRows> zeros(Span<const std::uint32_t> levels, std::size_t rows,
                                  std::size_t max_bytes = std::size_t{64} << 20);
  // `codes`: a value per column, below the column's levels.
  void set(std::size_t row, Span<const std::uint16_t> codes);
  // The values of a row, one per column.
  void get(std::size_t row, Span<float> values) const;

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_.size(); }
  std::size_t bytes() const;

  // Adds amounts[n] to sums[r] for every row r, where n is the number of the leaf of `tree` that
  // the row ends in. `amounts` has one entry per node, `sums` one per row. Integers, so that what
  // is subtracted later cancels exactly. The tree's features must be below columns().
  void add(TreeView tree, Span<const std::int32_t> amounts, Span<std::int32_t> sums) const;

 private:
  struct Column {
    std::uint32_t levels = 0;
    std::uint32_t slices = 0;
    std::uint32_t first_slice = 0;
  };
  // Codes begin <= code < end.
  struct CodeRange {
    std::uint32_t begin;
    std::uint32_t end;
  };
  // A split in terms of codes: those in the ranges go left.
  struct CodedSplit {
    std::uint32_t first_slice = 0;
    std::uint32_t slices = 0;
    std::uint32_t first_range = 0;
    std::uint32_t ranges = 0;
  };
  struct CodedTree {
    std::vector<CodedSplit> splits;  // per node; leaves have empty ones
    std::vector<CodeRange> ranges;
  };
  Status allocate(std::size_t max_bytes);
  CodedTree code_tree(TreeView tree) const;

  std::size_t rows_ = 0;
  std::size_t slices_ = 0;  // per block of 64 rows
  std::vector<Column> columns_;
  std::vector<std::uint64_t> words_;  // block by block
};

// Keeps a regression forest's predictions for all rows up to date while the forest is renewed: pass
// it to Forest::renew. Values are kept in steps
// of 2^-22 of `scale`, so that what a tree added is taken away exactly. Keeps a reference to the
// rows.
class FollowedPredictions : public Forest::ChangeListener {
 public:
  // `scale`: a size that no tree's value exceeds, for example four times the largest target seen so
  // far (larger values are clipped to it).
  FollowedPredictions(const SlicedRows& rows, const ForestView& forest, float scale);
  void leaving(TreeView tree) override { add(tree, -1); }
  void arriving(TreeView tree) override { add(tree, 1); }
  // The forest's mean for the row.
  float mean(std::size_t row) const { return static_cast<float>(sums_[row]) * step_; }
  std::size_t bytes() const { return sums_.size() * sizeof(std::int32_t); }

 private:
  void add(TreeView tree, int sign);
  const SlicedRows& rows_;
  float scale_;
  float step_;
  std::vector<std::int32_t> sums_;
  std::vector<std::int32_t> amounts_;
};

}  // namespace idletune::learners
