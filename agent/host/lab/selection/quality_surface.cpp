#include "agent/host/lab/selection/quality_surface.hpp"

#include <algorithm>
#include <utility>

#include "models/host/learn/ridge.hpp"

namespace idletune::selection {
namespace {

constexpr double kSurfacePenalty = 1;

}  // namespace

QualitySurface::QualitySurface(const std::vector<std::vector<double>>& logs,
                               const std::vector<std::vector<float>>& quality)
    : lowest_(logs.front()), highest_(logs.front()) {
  for (const std::vector<double>& row : logs) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      lowest_[i] = std::min(lowest_[i], row[i]);
      highest_[i] = std::max(highest_[i], row[i]);
    }
  }
  std::vector<double> rows;
  for (const std::vector<double>& row : logs) {
    const std::vector<double> values = terms(row);
    rows.insert(rows.end(), values.begin(), values.end());
  }
  const std::size_t columns = rows.size() / logs.size();
  for (std::size_t m = 0; m < quality.front().size(); ++m) {
    std::vector<double> targets;
    targets.reserve(quality.size());
    for (const std::vector<float>& row : quality) targets.push_back(static_cast<double>(row[m]));
    auto fitted = learners::ridge_regression(rows, columns, targets, kSurfacePenalty);
    coefficients_.push_back(fitted.ok() ? std::move(*fitted)
                                        : std::vector<double>(columns + 1, 0.0));
  }
}

std::vector<double> QualitySurface::terms(const std::vector<double>& logs) const {
  std::vector<double> terms;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    terms.push_back(std::clamp(logs[i], lowest_[i], highest_[i]));
  }
  for (std::size_t a = 0; a < logs.size(); ++a) {
    for (std::size_t b = a; b < logs.size(); ++b) terms.push_back(terms[a] * terms[b]);
  }
  return terms;
}

std::vector<double> QualitySurface::at(const std::vector<double>& logs) const {
  const std::vector<double> row = terms(logs);
  std::vector<double> sums;
  for (const std::vector<double>& coefficients : coefficients_) {
    sums.push_back(coefficients[0]);
    for (std::size_t i = 0; i < row.size(); ++i) sums.back() += row[i] * coefficients[i + 1];
  }
  return sums;
}

}  // namespace idletune::selection
