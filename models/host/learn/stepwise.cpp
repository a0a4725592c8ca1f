#include "models/host/learn/stepwise.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "models/core/median.hpp"
#include "models/core/random.hpp"

namespace idletune::learners {

namespace {

using Column = std::vector<double>;

// A column whose part outside the span of those in the model is smaller than this, as a share of
// its own square, adds rounding errors and nothing else.
constexpr double kCollinear = 1e-9;
// Gains closer than this are equal: which one rounding makes larger depends on the processor.
constexpr double kBetter = 1 + 1e-10;

double dot(const Column& a, const Column& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void subtract(Column& from, double factor, const Column& what) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= factor * what[i];
}

class Selection {
 public:
  Selection(const NumberTable& table, Span<const std::size_t> rows, const StepwiseOptions& options)
      : options_(options), count_(static_cast<double>(rows.size())) {
    std::vector<std::size_t> sorted(rows.begin(), rows.end());
    std::sort(sorted.begin(), sorted.end());
    distinct_ =
        static_cast<std::size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
    standardize(table, rows);
    start(table, rows);
  }

  StepwiseModel run() {
    while (add_best_feature()) {
    }
    solve();
    return std::move(model_);
  }

 private:
  struct Candidate {
    double gain = 0;  // by which the sum of squared errors falls
    std::uint32_t feature = StepwiseTerm::kNone;
    Column rest;  // the column's part outside the model's span
  };

  void standardize(const NumberTable& table, Span<const std::size_t> rows);
  void start(const NumberTable& table, Span<const std::size_t> rows);
  double adjusted_r2(double squares, std::size_t terms) const {
    return 1 - squares / total_ * (count_ - 1) / (count_ - 1 - static_cast<double>(terms));
  }
  // Squares of errors that are left are rounding errors, too.
  bool is_exact() const { return squares_ <= 1e-24 * total_; }
  bool may_grow() const {
    return model_.terms.size() < options_.max_terms && model_.terms.size() + 2 < distinct_ &&
           total_ > 0 && !is_exact();
  }
  double r2_with(double gain) const {
    return adjusted_r2(std::max(0.0, squares_ - gain), model_.terms.size() + 1);
  }
  void make_orthogonal(Column& column) const {
    for (int pass = 0; pass < 2; ++pass) {
      for (const Column& q : basis_) subtract(column, dot(q, column), q);
    }
  }
  double gain_of(const Column& rest) const {
    const double size = dot(rest, rest);
    const double along = dot(rest, errors_);
    return along * along / size;
  }
  bool add_best_feature();
  bool add_best_product(std::uint32_t feature, const std::vector<std::uint32_t>& others,
                        std::vector<bool>& used);
  void add(StepwiseTerm term, Column column, Column rest);
  void solve();

  StepwiseOptions options_;
  double count_;
  std::size_t distinct_ = 0;
  StepwiseModel model_;
  std::vector<Column> columns_;  // standardized
  std::vector<Column> rests_;    // the same without their part in the model's span
  std::vector<bool> open_;       // features that may still come in
  std::vector<Column> design_;   // the model's columns, the constant first
  std::vector<Column> basis_;    // orthonormal, of the same span
  Column targets_;
  Column errors_;
  double total_ = 0;
  double squares_ = 0;
};

void Selection::standardize(const NumberTable& table, Span<const std::size_t> rows) {
  columns_.assign(table.columns, Column(rows.size()));
  for (std::size_t j = 0; j < table.columns; ++j) {
    Column& column = columns_[j];
    double mean = 0;
    double largest = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      column[i] = table.row(rows[i])[j];
      mean += column[i] / count_;
      largest = std::max(largest, std::abs(column[i]));
    }
    double square = 0;
    for (double& value : column) {
      value -= mean;
      square += value * value / count_;
    }
    double deviation = std::sqrt(square);
    if (deviation <= 1e-13 * largest) deviation = 0;
    if (deviation == 0) model_.constant_features.push_back(static_cast<std::uint32_t>(j));
    for (double& value : column) value = deviation > 0 ? value / deviation : 0;
    model_.means.push_back(mean);
    model_.deviations.push_back(deviation);
    open_.push_back(deviation > 0);
  }
}

void Selection::start(const NumberTable& table, Span<const std::size_t> rows) {
  for (const std::size_t row : rows) targets_.push_back(table.targets[row]);
  design_.emplace_back(rows.size(), 1.0);
  basis_.emplace_back(rows.size(), 1 / std::sqrt(count_));
  errors_ = targets_;
  subtract(errors_, dot(basis_[0], errors_), basis_[0]);
  const double size = dot(targets_, targets_);
  total_ = squares_ = dot(errors_, errors_);
  if (total_ <= 1e-26 * size) total_ = squares_ = 0;  // all targets are the same
  rests_ = columns_;
  for (Column& rest : rests_) make_orthogonal(rest);
}

bool Selection::add_best_feature() {
  if (!may_grow()) return false;
  Candidate best;
  for (std::uint32_t j = 0; j < columns_.size(); ++j) {
    if (!open_[j]) continue;
    if (dot(rests_[j], rests_[j]) <= kCollinear * count_) {
      open_[j] = false;
      model_.collinear_features.push_back(j);
      continue;
    }
    const double gain = gain_of(rests_[j]);
    if (gain > kBetter * best.gain) best = {gain, j, {}};
  }
  if (best.feature == StepwiseTerm::kNone) return false;
  const double before = adjusted_r2(squares_, model_.terms.size());
  if (!(r2_with(best.gain) - before > options_.feature_gain)) return false;

  std::vector<std::uint32_t> others;
  for (const StepwiseTerm& term : model_.terms) {
    if (term.other == StepwiseTerm::kNone) others.push_back(term.feature);
  }
  open_[best.feature] = false;
  StepwiseTerm term;
  term.feature = best.feature;
  add(term, columns_[best.feature], rests_[best.feature]);
  std::vector<bool> used(others.size(), false);
  while (add_best_product(best.feature, others, used)) {
  }
  return true;
}

bool Selection::add_best_product(std::uint32_t feature, const std::vector<std::uint32_t>& others,
                                 std::vector<bool>& used) {
  if (!may_grow()) return false;
  Candidate best;
  std::size_t chosen = 0;
  Column product(columns_[feature].size());
  for (std::size_t k = 0; k < others.size(); ++k) {
    if (used[k]) continue;
    for (std::size_t i = 0; i < product.size(); ++i)
      product[i] = columns_[feature][i] * columns_[others[k]][i];
    const double size = dot(product, product);
    Column rest = product;
    make_orthogonal(rest);
    if (dot(rest, rest) <= kCollinear * size) continue;
    const double gain = gain_of(rest);
    if (gain > kBetter * best.gain) {
      best = {gain, others[k], std::move(rest)};
      chosen = k;
    }
  }
  if (best.feature == StepwiseTerm::kNone) return false;
  const double before = adjusted_r2(squares_, model_.terms.size());
  if (!(r2_with(best.gain) - before > options_.interaction_gain)) return false;
  used[chosen] = true;
  for (std::size_t i = 0; i < product.size(); ++i)
    product[i] = columns_[feature][i] * columns_[best.feature][i];
  StepwiseTerm term;
  term.feature = feature;
  term.other = best.feature;
  add(term, std::move(product), std::move(best.rest));
  return true;
}

void Selection::add(StepwiseTerm term, Column column, Column rest) {
  make_orthogonal(rest);
  const double size = std::sqrt(dot(rest, rest));
  for (double& value : rest) value /= size;
  subtract(errors_, dot(rest, errors_), rest);
  squares_ = dot(errors_, errors_);
  for (std::size_t j = 0; j < rests_.size(); ++j) {
    if (open_[j]) subtract(rests_[j], dot(rest, rests_[j]), rest);
  }
  design_.push_back(std::move(column));
  basis_.push_back(std::move(rest));
  term.adjusted_r2 = adjusted_r2(squares_, model_.terms.size() + 1);
  model_.terms.push_back(term);
}

// Back substitution: the design is the basis times an upper triangle.
void Selection::solve() {
  std::vector<double> coefficients(design_.size());
  for (std::size_t i = design_.size(); i-- > 0;) {
    double value = dot(basis_[i], targets_);
    for (std::size_t k = i + 1; k < design_.size(); ++k)
      value -= dot(basis_[i], design_[k]) * coefficients[k];
    coefficients[i] = value / dot(basis_[i], design_[i]);
  }
  model_.constant = coefficients[0];
  for (std::size_t i = 0; i < model_.terms.size(); ++i)
    model_.terms[i].coefficient = coefficients[i + 1];
}

}  // namespace

Status check(const NumberTable& table) {
  if (table.columns == 0 || table.values.size() != table.rows() * table.columns) {
    return {StatusCode::invalid_argument, "sizes of rows, columns and targets disagree"};
  }
  if (table.rows() < table.columns) {
    return {StatusCode::invalid_argument, std::to_string(table.rows()) +
                                              " rows are fewer than the " +
                                              std::to_string(table.columns) + " features"};
  }
  for (std::size_t i = 0; i < table.rows(); ++i) {
    for (std::size_t j = 0; j < table.columns; ++j) {
      if (!std::isfinite(table.row(i)[j])) {
        return {StatusCode::invalid_argument, "row " + std::to_string(i) + ", feature " +
                                                  std::to_string(j) + " is not a finite number"};
      }
    }
    if (!std::isfinite(table.targets[i])) {
      return {StatusCode::invalid_argument,
              "the target of row " + std::to_string(i) + " is not a finite number"};
    }
  }
  return {};
}

double StepwiseModel::predict(Span<const double> row) const {
  const auto standardized = [&](std::uint32_t feature) {
    const double deviation = deviations[feature];
    return deviation > 0 ? (row[feature] - means[feature]) / deviation : 0;
  };
  double sum = constant;
  for (const StepwiseTerm& term : terms) {
    double value = standardized(term.feature);
    if (term.other != StepwiseTerm::kNone) value *= standardized(term.other);
    sum += term.coefficient * value;
  }
  return sum;
}

StepwiseModel fit_stepwise(const NumberTable& table, Span<const std::size_t> rows,
                           const StepwiseOptions& options) {
  return Selection(table, rows, options).run();
}

double middle_mean(const std::vector<double>& ascending, double inclusion) {
  const double count = static_cast<double>(ascending.size());
  const auto skipped = static_cast<std::size_t>(std::lround(count * (1 - inclusion) / 2));
  if (inclusion <= 0 || 2 * skipped >= ascending.size()) return median_of_ascending(ascending);
  double sum = 0;
  for (std::size_t i = skipped; i < ascending.size() - skipped; ++i) sum += ascending[i];
  return sum / static_cast<double>(ascending.size() - 2 * skipped);
}

std::vector<double> StepwiseEnsemble::predictions(Span<const double> row) const {
  std::vector<double> values;
  for (const StepwiseModel& model : models) values.push_back(model.predict(row));
  std::sort(values.begin(), values.end());
  return values;
}

double StepwiseEnsemble::predict(Span<const double> row, double inclusion) const {
  return middle_mean(predictions(row), inclusion);
}

Result<StepwiseEnsemble> fit_stepwise_ensemble(const NumberTable& table,
                                               const StepwiseEnsembleOptions& options) {
  if (Status status = check(table); !status.ok()) return status;
  if (options.models == 0) {
    return Status(StatusCode::invalid_argument, "an ensemble of no models predicts nothing");
  }
  Random random(options.seed);
  StepwiseEnsemble ensemble;
  std::vector<std::size_t> rows(table.rows());
  for (std::size_t i = 0; i < options.models; ++i) {
    for (std::size_t& row : rows) row = static_cast<std::size_t>(random.below(table.rows()));
    ensemble.models.push_back(fit_stepwise(table, rows, options.model));
  }
  return ensemble;
}

}  // namespace idletune::learners
