#include "kernels/krylov/features.hpp"

#include <algorithm>
#include <cmath>

namespace idletune::krylov {
namespace {

// Mean and standard deviation of numbers that come one by one (Welford 1962: no cancellation).
class Moments {
 public:
  void add(double value) {
    ++count_;
    const double before = value - mean_;
    mean_ += before / count_;
    squares_ += before * (value - mean_);
  }
  double mean() const { return mean_; }
  double deviation() const { return count_ > 0 ? std::sqrt(squares_ / count_) : 0; }

 private:
  double count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// How far a row's entries are from the diagonal, in columns.
struct RowDistances {
  double mean = 0;
  double lowest = 0;   // largest one below the diagonal
  double highest = 0;  // and above
};

RowDistances distances_of(const SparsityPattern& pattern, std::size_t row) {
  const auto begin = static_cast<std::size_t>(pattern.row_start[row]);
  const auto end = static_cast<std::size_t>(pattern.row_start[row + 1]);
  RowDistances distances;
  if (begin == end) return distances;
  const auto diagonal = static_cast<double>(row);
  for (std::size_t k = begin; k < end; ++k) {
    distances.mean += std::fabs(pattern.column[k] - diagonal);
  }
  distances.mean /= static_cast<double>(end - begin);
  // Columns ascend: the first and the last one are the outermost.
  distances.lowest = std::max(0.0, diagonal - pattern.column[begin]);
  distances.highest = std::max(0.0, pattern.column[end - 1] - diagonal);
  return distances;
}

}  // namespace

const std::array<const char*, kFeatures> kFeatureNames = {
    "num_row",   "nnz",      "nzAveR",           "nzstdDev",
    "nzmax",     "nzmin",    "diagDisAveAveRow", "diagDisAveAveRowStdDev",
    "avLowBand", "avUpBand", "avLowBandStdDev",  "avUpBandStdDev"};

std::array<double, kFeatures> features_of(const SparsityPattern& pattern) {
  const auto rows = static_cast<std::size_t>(pattern.rows);
  Moments entries;
  Moments means;
  Moments low;
  Moments high;
  std::int32_t most = 0;
  std::int32_t fewest = rows > 0 ? pattern.columns : 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int32_t count = pattern.row_start[row + 1] - pattern.row_start[row];
    most = std::max(most, count);
    fewest = std::min(fewest, count);
    entries.add(count);
    const RowDistances distances = distances_of(pattern, row);
    means.add(distances.mean);
    low.add(distances.lowest);
    high.add(distances.highest);
  }
  return {static_cast<double>(rows),
          static_cast<double>(pattern.entries()),
          entries.mean(),
          entries.deviation(),
          static_cast<double>(most),
          static_cast<double>(fewest),
          means.mean(),
          means.deviation(),
          low.mean(),
          high.mean(),
          low.deviation(),
          high.deviation()};
}

}  // namespace idletune::krylov
