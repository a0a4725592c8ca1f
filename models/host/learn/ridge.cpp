#include "models/host/learn/ridge.hpp"

#include <cmath>

namespace idletune::learners {
namespace {

struct Scale {
  double mean = 0;
  double deviation = 1;
};

Scale scale_of(Span<const double> rows, std::size_t columns, std::size_t column) {
  const std::size_t count = rows.size() / columns;
  Scale scale;
  for (std::size_t r = 0; r < count; ++r) scale.mean += rows[r * columns + column];
  scale.mean /= static_cast<double>(count);
  double squares = 0;
  for (std::size_t r = 0; r < count; ++r) {
    const double distance = rows[r * columns + column] - scale.mean;
    squares += distance * distance;
  }
  const double deviation = std::sqrt(squares / static_cast<double>(count));
  if (deviation > 1e-12 * (1 + std::fabs(scale.mean))) scale.deviation = deviation;
  return scale;
}

// Solves A x = b, A symmetric and positive definite and replaced by its Cholesky factor.
void solve(std::vector<double>& a, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
}

bool finite(Span<const double> numbers) {
  for (const double number : numbers) {
    if (!std::isfinite(number)) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<double>> ridge_regression(Span<const double> rows, std::size_t columns,
                                             Span<const double> targets, double penalty) {
  const std::size_t count = targets.size();
  if (count == 0 || columns == 0 || rows.size() != count * columns || !(penalty > 0) ||
      !std::isfinite(penalty) || !finite(rows) || !finite(targets)) {
    return Status(StatusCode::invalid_argument,
                  "ridge regression: expected rows of finite numbers, a target for each, and a "
                  "penalty above 0");
  }
  std::vector<Scale> scales(columns);
  for (std::size_t c = 0; c < columns; ++c) scales[c] = scale_of(rows, columns, c);
  double mean = 0;
  for (const double target : targets) mean += target / static_cast<double>(count);
  std::vector<double> products(columns * columns, 0.0);
  std::vector<double> slopes(columns, 0.0);
  std::vector<double> row(columns);
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t c = 0; c < columns; ++c)
      row[c] = (rows[r * columns + c] - scales[c].mean) / scales[c].deviation;
    for (std::size_t c = 0; c < columns; ++c) {
      slopes[c] += row[c] * (targets[r] - mean);
      for (std::size_t d = 0; d < columns; ++d) products[c * columns + d] += row[c] * row[d];
    }
  }
  for (std::size_t c = 0; c < columns; ++c) products[c * columns + c] += penalty;
  solve(products, slopes);
  std::vector<double> coefficients{mean};
  for (std::size_t c = 0; c < columns; ++c) {
    const double slope = slopes[c] / scales[c].deviation;
    coefficients.push_back(slope);
    coefficients[0] -= slope * scales[c].mean;
  }
  return coefficients;
}

}  // namespace idletune::learners
