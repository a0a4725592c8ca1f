#include "models/host/learners/nearest_neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace idletune::learners {
namespace {

constexpr double kCategorical = -1;

// 1 / variance of a column; 0 if it is constant.
double inverse_variance(const Dataset& data, std::size_t column) {
  const double count = static_cast<double>(data.rows());
  double sum = 0;
  for (std::size_t r = 0; r < data.rows(); ++r) sum += static_cast<double>(data.row(r)[column]);
  const double mean = sum / count;
  double squares = 0;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    const double distance = static_cast<double>(data.row(r)[column]) - mean;
    squares += distance * distance;
  }
  return squares > 0 ? count / squares : 0;
}

Status check(const NeighborOptions& options) {
  if (options.neighbors == 0 || options.neighbors > kMaxNeighbors) {
    return Status(StatusCode::invalid_argument,
                  "nearest neighbours: " + std::to_string(options.neighbors) +
                      " neighbours; expected 1 to " + std::to_string(kMaxNeighbors));
  }
  return {};
}

}  // namespace

Status NearestNeighbors::fit(const Dataset& data) {
  if (Status sound = check(options_); !sound.ok()) return sound;
  if (Status sound = learners::check(data); !sound.ok()) return sound;
  // Twice: what was learned before goes only when the new is complete.
  const std::size_t needed =
      2 * ((data.values.size() + data.rows()) * sizeof(float) + data.columns * sizeof(double));
  if (needed > options_.max_bytes) {
    return Status(StatusCode::out_of_memory, "nearest neighbours: " + std::to_string(needed) +
                                                 " bytes; the limit is " +
                                                 std::to_string(options_.max_bytes));
  }
  columns_ = data.columns;
  classes_ = data.classes;
  values_.assign(data.values.begin(), data.values.end());
  targets_.assign(data.targets.begin(), data.targets.end());
  factors_.assign(columns_, 1.0);
  for (std::size_t c = 0; c < columns_; ++c) {
    if (data.kind(c) == FeatureKind::categorical) {
      factors_[c] = kCategorical;
    } else if (options_.standardize) {
      factors_[c] = inverse_variance(data, c);
    }
  }
  return {};
}

double NearestNeighbors::squared_distance(const float* a, const float* b) const {
  double sum = 0;
  for (std::size_t c = 0; c < columns_; ++c) {
    const double difference = static_cast<double>(a[c]) - static_cast<double>(b[c]);
    if (factors_[c] < 0) {
      sum += difference == 0 ? 0 : 1;
    } else {
      sum += factors_[c] * (difference * difference);
    }
  }
  return sum;
}

std::size_t NearestNeighbors::find(Span<const float> row, Neighbor* nearest) const {
  if (row.size() != columns_) return 0;
  const std::size_t wanted = std::min(options_.neighbors, targets_.size());
  std::size_t count = 0;
  for (std::size_t r = 0; r < targets_.size(); ++r) {
    double distance = squared_distance(row.data(), values_.data() + r * columns_);
    if (std::isnan(distance)) distance = HUGE_VAL;
    if (count == wanted && !(distance < nearest[count - 1].distance)) continue;
    std::size_t at = count < wanted ? count++ : count - 1;
    for (; at > 0 && distance < nearest[at - 1].distance; --at) nearest[at] = nearest[at - 1];
    nearest[at] = {distance, static_cast<std::uint32_t>(r)};
  }
  return count;
}

Prediction NearestNeighbors::predict(Span<const float> row) const {
  Neighbor nearest[kMaxNeighbors];
  const std::size_t count = find(row, nearest);
  if (count == 0) return {};
  return classes_ == 0 ? mean_of(nearest, count) : vote_of(nearest, count);
}

Prediction NearestNeighbors::mean_of(const Neighbor* nearest, std::size_t count) const {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>(targets_[nearest[i].row]);
  const double mean = sum / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double distance = static_cast<double>(targets_[nearest[i].row]) - mean;
    squares += distance * distance;
  }
  return {static_cast<float>(mean),
          static_cast<float>(std::sqrt(squares / static_cast<double>(count)))};
}

Prediction NearestNeighbors::vote_of(const Neighbor* nearest, std::size_t count) const {
  float best = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float candidate = targets_[nearest[i].row];
    std::size_t votes = 0;
    for (std::size_t j = 0; j < count; ++j) votes += targets_[nearest[j].row] == candidate ? 1 : 0;
    if (votes > most || (votes == most && candidate < best)) {
      best = candidate;
      most = votes;
    }
  }
  return {best, 0};
}

}  // namespace idletune::learners
