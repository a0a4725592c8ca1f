// Stepwise linear regression, and many of them on bootstrap samples: the learner of Ardalani et al.
// 2015, section 4. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune::learners {

// Rows of numbers and a target per row, owned by somebody else.
struct NumberTable {
  Span<const double> values;  // row by row
  std::size_t columns = 0;
  Span<const double> targets;

  std::size_t rows() const { return targets.size(); }
  Span<const double> row(std::size_t i) const { return {values.data() + i * columns, columns}; }
};

// Errors: invalid_argument, naming row and column, if sizes disagree, a number is not finite, or
// there are fewer rows than columns.
Status check(const NumberTable& table);

struct StepwiseOptions {
  // A product with a feature that is in the model comes in if it raises the adjusted R² by more
  // (the publication's theta 1), a feature if it raises it by more than the other (theta 2).
  double interaction_gain = 0.0095;
  double feature_gain = 0;
  std::size_t max_terms = 64;  // besides the constant
};

// A feature, or the product of two.
struct StepwiseTerm {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t feature = 0;
  std::uint32_t other = kNone;
  double coefficient = 0;  // of the standardized features
  double adjusted_r2 = 0;  // of the model up to this term
};

struct StepwiseModel {
  // Per feature: mean and standard deviation over the rows learned from; a deviation of 0 marks a
  // feature that was constant there.
  std::vector<double> means;
  std::vector<double> deviations;
  double constant = 0;
  std::vector<StepwiseTerm> terms;  // in the order in which they came in
  // Features that could not come in: the same in all rows, or a sum of multiples of those that had
  // come in before.
  std::vector<std::uint32_t> constant_features;
  std::vector<std::uint32_t> collinear_features;

  // `row` has a value per feature.
  double predict(Span<const double> row) const;
};

// Forward selection: in each round the feature that raises the adjusted R² most, then its products
// with those that are in already, the best first, as long as they add enough; it ends when no
// feature adds enough, or no row is left to tell. Equal gains: the feature that comes first. `rows`
// are numbers of rows, repeats allowed. Least squares by Gram-Schmidt, each column made orthogonal
// twice. The table must satisfy check(); at least one row.
StepwiseModel fit_stepwise(const NumberTable& table, Span<const std::size_t> rows,
                           const StepwiseOptions& options);

struct StepwiseEnsembleOptions {
  StepwiseOptions model;
  std::size_t models = 100;
  std::uint64_t seed = 1;
};

struct StepwiseEnsemble {
  std::vector<StepwiseModel> models;

  // The models' predictions, ascending.
  std::vector<double> predictions(Span<const double> row) const;
  // The mean of the middle ones: the share `inclusion` of all, half of it on either side of the
  // median; 0: the median itself.
  double predict(Span<const double> row, double inclusion = kInclusion) const;
  // 30 % on either side of the median, as published.
  static constexpr double kInclusion = 0.6;
};

// Model i learns from as many rows as there are, drawn with replacement by the i-th stretch of the
// stream Random(seed). Errors: what check(table) says; invalid_argument without models.
Result<StepwiseEnsemble> fit_stepwise_ensemble(const NumberTable& table,
                                               const StepwiseEnsembleOptions& options);

// The mean of the middle values of an ascending list, as StepwiseEnsemble::predict has it.
double middle_mean(const std::vector<double>& ascending, double inclusion);

}  // namespace idletune::learners
