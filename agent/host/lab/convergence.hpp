// How a searcher's best configuration improves from step to step, over many replayed searches (Olha
// et al. 2020, section 4.3: table 11, figure 5). Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <idletune/aims.hpp>
#include <idletune/result.hpp>

#include "agent/host/lab/simulation.hpp"

namespace idletune {

struct ConvergenceOptions {
  std::size_t repeats = 1000;  // with the seeds seed, seed + 1, ...
  std::uint64_t seed = 1;
  double until = kWellPerforming;  // relative performance that counts as found
  // Whose best that is relative to, and whose slowest stands in for the time before anything ran;
  // null: the target's.
  const History* full = nullptr;
};

struct Convergence {
  // Their figure: the first step after which the mean over the searches of the best run time
  // so far is within `until` of the best. Nothing: it never is.
  std::optional<std::uint64_t> steps_of_mean;
  // Steps of the single searches until one such configuration was found; nothing if less than half
  // of them got there.
  std::optional<double> median_steps;
  double reached = 0;  // share of the searches that found one
  struct Point {
    std::uint64_t step = 0;  // from 1
    double mean_best_ns = 0;
    double fast_best_ns = 0;  // a tenth of the searches had found at least that
    double slow_best_ns = 0;  // nine tenths had
  };
  // The mean curve where it changes, at most some 200 points, evenly on a logarithmic axis; the
  // last is the last step of the longest search.
  std::vector<Point> curve;
};

// Errors: those of make_searcher.
Result<Convergence> converge(const Simulation& target, std::string_view searcher,
                             const ConvergenceOptions& options);

}  // namespace idletune
