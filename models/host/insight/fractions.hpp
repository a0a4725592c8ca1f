// Relative performance over a history, and well-performing fractions. Host side.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "models/host/history/history.hpp"

namespace idletune {

// The distribution of q = t_best / t over the valid configurations of a history: all rows but those
// of status `constraints` and those that a search chose (they are better than the space is; the
// best one may be one of them); failures count as 0. Configurations that the history does not have
// but `assumed_failed` others (see dropped_failures) count as 0 too.
struct PerformanceDistribution {
  std::vector<double> sorted;    // q, ascending; one per configuration in the denominator
  std::uint64_t valid = 0;       // the denominator: sorted.size()
  std::uint64_t measured = 0;    // rows in it
  std::uint64_t space = 0;       // valid configurations of the space, measured or not
  double best_ns = 0;            // 0 if nothing ran
  double median_run_ns = 0;      // of the correct rows
  double median_compile_ns = 0;  // of the rows that have one; 0: none has

  bool is_sample() const { return space > valid; }
  // Whether fractions say something: not where all rows are ones that a search chose.
  bool knows_fractions() const { return valid > 0 || !is_sample(); }
  std::uint64_t count_at_least(double q) const;
  // p_b(q), in [0, 1]; 0 for an empty history. From a sample it is relative to the best one seen,
  // which overstates it.
  double fraction(double q) const;
  // 95 % Wilson interval of a sample's fraction, that is of the share within q of the best one
  // *seen*. The share within q of the best there is is at most that, so only the upper end holds
  // for it too. Of a whole space both ends are the fraction.
  std::array<double, 2> interval(double q) const;
  // With probability 1 - risk at most this share of the space is better than the best one of a
  // uniform sample of m: 1 - risk^(1/m). 0 for a whole space.
  double better_share_bound(double risk = 0.05) const;
};
PerformanceDistribution distribution_of(const History& history, std::uint64_t assumed_failed = 0);

// The configurations (RowKeys) that history `i` lacks and others of the same kernel, parameters and
// shape have: results whose writer dropped its failures. Only histories that overlap by at least
// 80 % of their union are compared, and only such as is_whole().
std::vector<std::unordered_set<std::uint64_t>> dropped_failures(
    const std::vector<const History*>& histories);

}  // namespace idletune
