// What a board reaches that begins with another device's tree and learns its own, played on
// recorded times.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/learn/selection_evaluation.hpp"

namespace idletune::cli {

struct RetrainedScores {
  selection::Scores before;  // the other device's tree
  selection::Scores after;   // what the board uses then: its own tree, where that was better
  selection::Scores native;  // a tree of everything that was measured here
  std::size_t replaced = 0;  // splits in which the tree was replaced
};

// At each problem learned from the board measured the default, what the other device's tree picks,
// and `measured` more of the configurations, drawn by the seed; grown and judged as
// agent/retraining does. Asked at the other problems.
RetrainedScores retrained_selection(const selection::Problems& here,
                                    const selection::Problems& there, std::size_t measured,
                                    const selection::EvaluationOptions& options);

}  // namespace idletune::cli
