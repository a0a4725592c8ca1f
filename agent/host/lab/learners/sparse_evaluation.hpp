// How well formats, kernels and work groups are chosen for matrices that were not learned from.
// Host side.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/host/learn/sparse_table.hpp"
#include "models/host/learners/learner.hpp"

namespace idletune::sparse {

// The place of a candidate for a matrix, learned from the matrices of the other places.
using Chooser = std::function<std::size_t(const Table& table, const std::vector<std::size_t>& from,
                                          std::size_t matrix)>;

// Speeds are shares of the fastest candidate's; means are geometric.
struct ChoiceQuality {
  std::string chooser;
  std::size_t matrices = 0;
  double kept = 0;
  double worst = 0;
  std::string worst_matrix;
  double within_5_percent = 0;  // share of matrices that keep 95 %
  // Mean over formats that are the best somewhere of the share of their matrices where the chosen
  // format, with its best kernel, keeps 95 %.
  double balanced_accuracy = 0;
  double format_kept = 0;  // the chosen format's best candidate
  double format_within_5_percent = 0;
  double kernel_kept = 0;      // the chosen kernel's best work group, against its format's best
  double work_group_kept = 0;  // the choice against its kernel's best
  // Beside the best of so many candidates each is slower than it seems, since that one was lucky.
  // Here half of the samples say which is the best, and the other half how fast it and the choice
  // are; then the other way round.
  double kept_again = 0;
  double within_5_percent_again = 0;
  double format_kept_again = 0;  // by the best of both formats, found and timed likewise
};

// Each matrix is chosen for by what is learned without it and, where it was made up, without its
// family. A candidate that was not measured there counts as the chooser's failure: what is best for
// all in its place.
ChoiceQuality evaluate(const Table& table, const std::string& name, const Chooser& chooser);

// What somebody keeps who has measured all candidates: the best by half of the samples, beside the
// best of the other half. Nothing that is learned can be expected to keep more.
ChoiceQuality evaluate_oracle(const Table& table);

// By the predicted times (sparse_times.hpp).
std::size_t choose_by_times(const Table& table, const std::vector<std::size_t>& from,
                            std::size_t matrix);
// One for all: the highest geometric mean of speed, candidates that fail somewhere last.
std::size_t choose_one_for_all(const Table& table, const std::vector<std::size_t>& from,
                               std::size_t matrix);
// A classifier that names the best candidate, by the logarithms of features. A learner that fails
// gives one for all.
Chooser choose_by_class(std::function<std::unique_ptr<learners::Learner>()> make);
// A classifier that names the best format, and of that one the candidate that is the best for all.
Chooser choose_in_two_stages(std::function<std::unique_ptr<learners::Learner>()> make);

}  // namespace idletune::sparse
