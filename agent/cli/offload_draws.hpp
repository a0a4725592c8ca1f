// idletune offload evaluate --draws: the protocol of Ardalani et al. 2015.
#pragma once

#include <cstdint>

#include "agent/cli/offload_samples.hpp"
#include "agent/cli/verbs.hpp"
#include "models/offload/draws.hpp"

namespace idletune::cli {

struct DrawArguments {
  std::uint64_t draws = 0;  // 0: another protocol
  std::uint64_t tests = 10;
  bool derived = false;
};

// Options "--draws", "--tests", "--derived".
void add_draw_options(Verb& verb, DrawArguments& arguments);

// Draws tests, learns from the others, and answers.
void evaluate_with_draws(const DrawArguments& arguments, const LearnerArguments& learner,
                         offload::GroupBy group, const offload::SampleSet& set,
                         CliContext& context);

}  // namespace idletune::cli
