// Shapes of samples for drawing: smoothed densities, boxes, and counts on a grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace idletune::report {

// The value below which a share `u` of ascending values lies, linear between neighbours (type 7 of
// Hyndman & Fan 1996). At least one value; u is clamped to [0, 1].
double quantile_of(const std::vector<double>& ascending, double u);

// A Gaussian kernel density on [0, 1], reflected at both ends so that nothing leaks out of it.
struct Density {
  double bandwidth = 0;
  std::vector<double> height;  // at kPoints even positions from 0 to 1; integrates to 1

  static constexpr std::size_t kPoints = 161;
  static double position(std::size_t i) { return static_cast<double>(i) / (kPoints - 1); }
  double highest() const;
};
// Of ascending values within [0, 1], at least one. Bandwidth: the rule of thumb of Silverman
// 1986 (formula 3.31), 0.9 min(standard deviation, interquartile range / 1.34) n^(-1/5), and never
// under 1/200, where the picture would show single values.
Density density_of(const std::vector<double>& ascending);

// Tukey's box: quartiles, whiskers to the farthest values within 1.5 times the box, and the rest.
struct Box {
  double low = 0;  // end of the lower whisker
  double lower = 0;
  double median = 0;
  double upper = 0;
  double high = 0;  // end of the upper whisker
  std::vector<double> outside;
};
// Of at least one value, in any order.
Box box_of(std::vector<double> values);

// Counts of points of the unit square on an even grid.
class Grid {
 public:
  explicit Grid(std::size_t cells_per_side);
  // Both in [0, 1]; 1 belongs to the last cell.
  void add(double x, double y);
  std::size_t side() const { return side_; }
  std::uint32_t count(std::size_t column, std::size_t row) const {
    return counts_[row * side_ + column];
  }
  std::uint32_t highest() const;

 private:
  std::size_t cell(double value) const;
  std::size_t side_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace idletune::report
