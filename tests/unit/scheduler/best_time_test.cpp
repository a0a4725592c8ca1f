#include "agent/scheduler/best_time.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "agent/belief/relative_performance.hpp"
#include "models/core/random.hpp"
#include "tests/unit/scheduler/decision_inputs.hpp"

using namespace idletune;
using namespace idletune::test;

TEST_CASE("the scale is learned from uniform draws") {
  // Times 1 ms / q with q from the prior: the best is 1 ms although nobody has seen it.
  const RelativePerformance prior = RelativePerformance::prior();
  double error = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    UniformDraws draws;
    for (int i = 0; i < 50; ++i) draws.add(from_ms(1.0 / prior.correct_quantile(random.uniform())));
    DecisionInput input = plain(1e4);
    input.current = from_ms(5);
    input.draws = &draws;
    error += std::log(decide(input).best_estimate_ns / 1e6);
  }
  CHECK(std::fabs(error / 30) < 0.3);
}
