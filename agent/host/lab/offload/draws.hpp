// The protocol of Ardalani et al. 2015, section 6: a few kernels are drawn as tests, the others are
// learned from, many times. Host side.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <idletune/result.hpp>

#include "models/host/offload/predictor.hpp"

namespace idletune::offload {

struct DrawOptions {
  SpeedupOptions learner;
  GroupBy group = GroupBy::program;  // of a test nothing of its group is learned
  std::size_t draws = 100;           // by seeds from learner.seed on
  std::size_t tests = 10;            // of as many groups
  bool derived = false;              // samples of the suite "derived" are tests, too
  std::vector<double> inclusions{learners::StepwiseEnsemble::kInclusion};
};

// Errors are |1 - T / predicted T|, as published.
struct DrawErrors {
  double inclusion = 0;
  double mean = 0;   // over the draws, of the mean over a draw's tests
  double least = 0;  // of a draw
  double worst = 0;
};

struct DrawTest {
  std::size_t sample;
  double log_speedup;  // predicted, at the first inclusion
};

struct DrawResult {
  std::vector<DrawErrors> errors;  // by inclusion
  std::vector<DrawTest> tests;     // of all draws
};

// Errors: those of the learner; fewer groups with tests than `tests` + 1. `progress` as
// leave_out().
Result<DrawResult> evaluate_draws(const SampleSet& set, const DrawOptions& options,
                                  const std::function<bool(std::size_t, std::size_t)>& progress);

}  // namespace idletune::offload
