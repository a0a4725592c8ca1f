// The best way to part rows in two by one feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/span.hpp>

#include "models/forest/coded_table.hpp"

namespace idletune::learners {

struct Split {
  double score = -1;  // the larger the better; comparable within a node
  std::uint32_t feature = 0;
  bool categorical = false;
  std::uint16_t last_code = 0;   // numeric: codes up to this one go left
  float threshold = 0;           // numeric: the same as a value
  std::uint32_t categories = 0;  // categorical: these go left
  bool found() const { return score >= 0; }
  // `level`: the feature's level of that code.
  bool goes_left(std::uint16_t code, float level) const {
    return categorical ? ((categories >> static_cast<std::uint32_t>(level)) & 1u) != 0
                       : code <= last_code;
  }
};

// Exact search over the values that occur. Regression minimises the sum of squared errors,
// classification the weighted Gini impurity. Thresholds lie halfway between neighbouring values,
// rounded down to a float, which sends every float to the same side as the exact middle.
// Categories: ordered by their mean target (regression), or by their share of the node's most
// frequent class, and parted along that order: optimal for regression and two classes (Breiman et
// al. 1984, section 4.6), a heuristic for more. Categories that do not occur in the node join the
// side with more rows.
class SplitSearch {
 public:
  explicit SplitSearch(const CodedTable& table);

  // Improves `best` if the feature parts the rows better, with at least `leaf_rows` rows on either
  // side; among equal scores the lower feature wins, within a feature the lower threshold. Returns
  // whether the feature has more than one value among the rows.
  bool improve(Span<const std::uint32_t> rows, Span<const std::uint16_t> weights,
               std::size_t feature, std::size_t leaf_rows, Split& best);

  static std::size_t bytes_needed(std::size_t rows, std::uint32_t classes);

 private:
  // The node's rows with one code.
  struct Bin {
    std::int64_t sum;  // of weighted targets; classification: weight of the node's main class
    std::uint32_t weight;
    std::uint32_t rows;
    std::uint32_t begin;  // classification: where its rows start in ordered_
    std::uint16_t code;
  };
  void fill_bins(Span<const std::uint32_t> rows, Span<const std::uint16_t> weights,
                 Span<const std::uint16_t> codes, std::size_t levels);
  void fill_bins_by_counting(Span<const std::uint32_t> rows, Span<const std::uint16_t> weights,
                             Span<const std::uint16_t> codes, std::size_t levels);
  void fill_bins_by_sorting(Span<const std::uint32_t> rows, Span<const std::uint16_t> weights,
                            Span<const std::uint16_t> codes);
  void order_rows(Span<const std::uint32_t> rows, Span<const std::uint16_t> codes);
  void order_categories(Span<const std::uint16_t> weights);
  void sweep_targets(std::size_t feature, std::size_t leaf_rows, Split& best);
  void sweep_classes(Span<const std::uint16_t> weights, std::size_t feature, std::size_t leaf_rows,
                     Split& best);
  // Part before bin `cut`, if that beats `best`.
  void offer(double score, std::size_t cut, std::size_t feature, Split& best) const;

  const CodedTable& table_;
  std::vector<Bin> bins_;               // present codes, in the order of the sweep
  std::vector<Bin> by_code_;            // one per level while counting, cleared afterwards
  std::vector<std::uint32_t> ordered_;  // classification: the rows by code
  std::vector<std::uint64_t> keys_;     // code and row, to sort
  std::vector<std::uint32_t> left_;     // weight per class
  std::vector<std::uint32_t> right_;
};

}  // namespace idletune::learners
