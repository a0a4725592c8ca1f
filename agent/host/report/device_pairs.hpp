// How alike two devices see the same configurations.
#pragma once

#include "agent/host/pictures/drawing.hpp"
#include "agent/host/report/study.hpp"

namespace idletune::report {

struct DevicePair {
  std::string first;
  std::string second;
  std::vector<Point> points;      // q on the first and on the second; ran on both
  std::size_t ran_on_both = 0;    // number of points
  std::size_t failed_on_one = 0;  // ran on one of them only
  double rank_correlation = 0;    // Spearman's, over the points; NaN for fewer than three
  std::size_t good_on_first = 0;  // reach the threshold there, whatever they do on the other
  std::size_t good_on_second = 0;
  std::size_t good_on_both = 0;
  double first_best_on_second =
      0;  // q on the second of the first's best configuration; 0: it fails
  double second_best_on_first = 0;
};

// Every pair of the group's devices, at most `limit`, in their order. A configuration that one
// device has not measured says nothing about the pair and is left out.
std::vector<DevicePair> pairs_of(const Group& group, double threshold, std::size_t limit);

// Spearman's rank correlation, ties at their mean rank; NaN for fewer than three points or if all
// have the same x or y.
double rank_correlation(const std::vector<Point>& points);

}  // namespace idletune::report
