// Shapes of samples for drawing: smoothed densities, boxes, and counts on a grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "agent/host/pictures/drawing.hpp"

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
// Of at least one value, ascending.
Box box_of(const std::vector<double>& ascending);

// How many points of the unit square lie in each cell of an even grid, row after row from below.
// The far edges belong to the last cells.
std::vector<std::uint32_t> counts_on_grid(const std::vector<Point>& points, std::size_t side);

}  // namespace idletune::report
