#include "models/learn/quality_surface.hpp"

#include <algorithm>
#include <cmath>

namespace idletune::selection {
namespace {

constexpr double kPenalty = 1;

// Solves `matrix` x = `right` in place for all columns of `right`, by Cholesky's method; the matrix
// is symmetric, and the penalty makes it positive definite.
void solve(std::vector<std::vector<double>>& matrix, std::vector<std::vector<double>>& right) {
  const std::size_t size = matrix.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matrix[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= matrix[i][k] * matrix[j][k];
      matrix[i][j] = i == j ? std::sqrt(sum) : sum / matrix[j][j];
    }
  }
  for (std::size_t c = 0; c < right.front().size(); ++c) {
    for (std::size_t i = 0; i < size; ++i) {
      double sum = right[i][c];
      for (std::size_t k = 0; k < i; ++k) sum -= matrix[i][k] * right[k][c];
      right[i][c] = sum / matrix[i][i];
    }
    for (std::size_t i = size; i-- > 0;) {
      double sum = right[i][c];
      for (std::size_t k = i + 1; k < size; ++k) sum -= matrix[k][i] * right[k][c];
      right[i][c] = sum / matrix[i][i];
    }
  }
}

}  // namespace

QualitySurface::QualitySurface(const std::vector<std::vector<double>>& logs,
                               const std::vector<std::vector<float>>& quality) {
  const double rows = static_cast<double>(logs.size());
  for (std::size_t i = 0; i < logs.front().size(); ++i) {
    double sum = 0;
    double squares = 0;
    for (const std::vector<double>& row : logs) sum += row[i];
    for (const std::vector<double>& row : logs) {
      squares += (row[i] - sum / rows) * (row[i] - sum / rows);
    }
    mean_.push_back(sum / rows);
    spread_.push_back(squares > 0 ? std::sqrt(squares / rows) : 1.0);
  }
  const std::size_t count = terms(logs.front()).size();
  std::vector<std::vector<double>> matrix(count, std::vector<double>(count, 0.0));
  weights_.assign(count, std::vector<double>(quality.front().size(), 0.0));
  for (std::size_t r = 0; r < logs.size(); ++r) {
    const std::vector<double> row = terms(logs[r]);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) matrix[i][j] += row[i] * row[j];
      for (std::size_t m = 0; m < quality[r].size(); ++m) {
        weights_[i][m] += row[i] * static_cast<double>(quality[r][m]);
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) matrix[i][i] += kPenalty;
  solve(matrix, weights_);
}

std::vector<double> QualitySurface::terms(const std::vector<double>& logs) const {
  std::vector<double> scaled;
  // Nothing is known of what lies far outside.
  for (std::size_t i = 0; i < logs.size(); ++i) {
    scaled.push_back(std::clamp((logs[i] - mean_[i]) / spread_[i], -3.0, 3.0));
  }
  std::vector<double> terms{1};
  terms.insert(terms.end(), scaled.begin(), scaled.end());
  for (std::size_t a = 0; a < scaled.size(); ++a) {
    for (std::size_t b = a; b < scaled.size(); ++b) terms.push_back(scaled[a] * scaled[b]);
  }
  return terms;
}

std::vector<double> QualitySurface::at(const std::vector<double>& logs) const {
  const std::vector<double> row = terms(logs);
  std::vector<double> sums(weights_.front().size(), 0.0);
  for (std::size_t i = 0; i < row.size(); ++i) {
    for (std::size_t m = 0; m < sums.size(); ++m) sums[m] += row[i] * weights_[i][m];
  }
  return sums;
}

}  // namespace idletune::selection
