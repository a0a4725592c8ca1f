// A kernel whose best configuration depends on a feature of the problem alone: histories of it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/core/random.hpp"
#include "models/host/history/history.hpp"

namespace idletune::test {

// Of the kernel that played_package() describes, were it to multiply sparse matrices: A threads
// work on a row, which is best where rows have some twice as many entries; four rows at a time are
// best.
inline std::chrono::nanoseconds feature_time(double mean_row, std::int64_t a, std::int64_t b) {
  const double wanted = std::clamp(std::log2(mean_row) - 1, 0.0, 4.0);
  const double off = std::fabs(std::log2(static_cast<double>(a)) - std::round(wanted));
  const double rows = std::fabs(std::log2(static_cast<double>(b)) - 2);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(1e6 * (1 + 0.4 * off + 0.1 * rows)));
}

struct FeatureProblem {
  std::int64_t n = 0;
  double mean_row = 0;
};

// `groups` matrices with rows of a mean length of their own, each in `sizes` sizes.
inline std::vector<FeatureProblem> feature_problems(std::size_t groups, std::size_t sizes,
                                                    std::uint64_t seed) {
  Random random(seed);
  std::vector<FeatureProblem> problems;
  for (std::size_t g = 0; g < groups; ++g) {
    const double mean_row = std::exp2(1 + 6 * random.uniform());
    for (std::size_t i = 0; i < sizes; ++i) {
      problems.push_back({64 + static_cast<std::int64_t>(random.below(1000000)), mean_row});
    }
  }
  return problems;
}

// Every configuration of powers of two; `with_feature` false: nobody noted what rows are like.
inline History feature_history(const FeatureProblem& problem, bool with_feature = true) {
  History history;
  history.kernel = "play";
  history.device = "board";
  history.shape = Shape{problem.n};
  history.inputs = {"N"};
  if (with_feature) {
    history.shape.push_feature(problem.mean_row);
    history.shape.push_feature(static_cast<double>(problem.n % 16));
    history.inputs.insert(history.inputs.end(), {"mean_row", "rest"});
  }
  history.parameters.emplace_back("A");
  history.parameters.emplace_back("B");
  Random noise(static_cast<std::uint64_t>(problem.n));
  for (std::int64_t a = 1; a <= 16; a *= 2) {
    for (std::int64_t b = 1; b <= 16; b *= 2) {
      history.parameters[0].push_integer(a);
      history.parameters[1].push_integer(b);
      history.status.push_back(TrialStatus::correct);
      const double time = static_cast<double>(feature_time(problem.mean_row, a, b).count());
      history.run_time.push_back(time * static_cast<double>(problem.n) *
                                 (1 + 0.02 * noise.uniform()));
      history.compile_time.push_back(std::numeric_limits<double>::quiet_NaN());
      history.sample_count.push_back(0);
    }
  }
  return history;
}

inline std::vector<History> feature_histories(const std::vector<FeatureProblem>& problems,
                                              bool with_feature = true) {
  std::vector<History> histories;
  histories.reserve(problems.size());
  for (const FeatureProblem& problem : problems)
    histories.push_back(feature_history(problem, with_feature));
  return histories;
}

}  // namespace idletune::test
