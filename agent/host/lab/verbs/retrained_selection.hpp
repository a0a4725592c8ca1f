// A board that begins with another device's tree and learns its own, played on recorded times.
#pragma once

#include <cstddef>

#include "agent/host/lab/selection/selection_evaluation.hpp"

namespace idletune::cli {

// What a board reaches that begins with another device's tree and learns its own.
struct RetrainedScores {
  selection::Scores before;  // the other device's tree
  selection::Scores after;   // what the board uses then: its own tree, where that was better
  selection::Scores native;  // a tree of everything that was measured here
  std::size_t splits = 0;    // that were played
  std::size_t replaced = 0;  // splits in which the tree was replaced
};

// A board `here`, whose tree is learned of all problems `there`; at each problem of a split's training
// side it tries the defaults, the tree's pick and `measured` others. Scores are of the test side. An
// interrupt ends it after the split that is played.
RetrainedScores retrained_selection(const selection::Problems& here,
                                    const selection::Problems& there, std::size_t measured,
                                    const selection::EvaluationOptions& options);

}  // namespace idletune::cli
