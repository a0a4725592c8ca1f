// What several ways to choose by problem size are worth on problems left out. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <idletune/result.hpp>

#include "agent/host/lab/selection/quality_forest.hpp"
#include "models/host/learn/selection.hpp"

namespace idletune::selection {

struct EvaluationOptions {
  bool trees = false;      // also the 40 published trees, and ours among a few configurations
  double share = 0.8;      // of the problems to learn from, unless some are only asked
  std::uint64_t seed = 1;  // of the first split
  std::size_t splits = 1;
};

// What several splits came to.
struct Spread {
  std::vector<double> values;
  void add(double value) { values.push_back(value); }
  double mean() const;
  double deviation() const;  // standard; 0 of a single value
};

struct Scores {
  Spread accuracy, dtpr, dttr, p10, peak, captured;
  void add(const Score& score);
};

struct TreeLine {
  std::size_t height = 0;  // 0: no limit
  double leaf = 1;
  Scores scores;
  Spread leaves;
  Spread tree_height;
  std::vector<Spread> classes;       // by member
  std::vector<std::size_t> choices;  // methods, of the first split's problems
};

// How many configurations are compiled, at most, and what choices among them are worth.
inline constexpr std::size_t kClassCounts[] = {1, 2, 4, 8, 16, 32};

struct SplitResults {
  std::vector<TreeLine> trees;
  Scores ours, single;
  std::vector<Scores> by_classes;     // in the order of kClassCounts
  std::vector<ForestRecipe> recipes;  // of ours, by split
  DefaultRoutine usual;               // of the first split
  Rows tested;                        // problems of the first split, and
  std::vector<std::size_t> choices;   // what ours chooses there

  const TreeLine* best_tree() const;  // the highest DTTR; null without trees
};

// `go_on` is asked between splits, with what they came to so far: false ends it there.
// Where Problems::seen leaves some that are only asked, all others are learned from, in each split.
// Errors: invalid_argument (too few problems); those of the trees.
Result<SplitResults> evaluate(const Problems& problems, const EvaluationOptions& options,
                              const std::function<bool(const SplitResults&)>& go_on = {});

}  // namespace idletune::selection
