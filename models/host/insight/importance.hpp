// How much each tuning parameter says about the run time: mutual information (Olha et al.
// 2020, section 4.1). Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/host/history/history.hpp"

namespace idletune {

// All information is in bits. See models/host/insight/README.md for the estimator.
struct ParameterImportance {
  std::string name;
  std::size_t values = 0;  // distinct ones among the correct rows
  double information = 0;  // between the parameter and the bin of the run time, correct rows
  double corrected = 0;    // less what a parameter without influence would show; never below 0
  double relative = 0;     // information / the highest of this history, in [0, 1]
  double failure_information = 0;  // between the parameter and whether it failed, all valid rows
};

struct Importance {
  std::string kernel;
  std::string device;
  std::size_t correct = 0;  // rows that `information` is about
  std::size_t failed = 0;   // rows that failed (not those of status `constraints`)
  std::size_t bins = 0;     // of the run time (ties may leave some empty)
  double time_entropy = 0;  // of those bins: the most that any parameter could say
  std::vector<ParameterImportance> parameters;  // in the history's order
};
// All zero where fewer than two rows are correct. Deterministic. Time: some milliseconds per
// parameter.
Importance importance_of(const History& history);

// The bins of the run time: B equally frequent ones, B the largest number with 16 B^2 <= times, at
// least 2 and at most kMaxTimeBins. The i-th smallest of n falls into bin floor(i B / n); equal
// times share the bin of the first of them. (Bins of the logarithm are the same.) Times must be
// numbers. One element per time.
inline constexpr std::size_t kMaxTimeBins = 32;
std::size_t time_bin_count(std::size_t times);
std::vector<std::uint32_t> equal_frequency_bins(const std::vector<double>& times);

// Of two labellings of the same things (labels are small numbers, 0 ... some thousands), in bits:
// the plug-in estimate, and its mean over all permutations of one of them (Vinh et al. 2010:
// exact, without drawing any).
double mutual_information(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b);
double expected_mutual_information(const std::vector<std::uint32_t>& a,
                                   const std::vector<std::uint32_t>& b);

}  // namespace idletune
