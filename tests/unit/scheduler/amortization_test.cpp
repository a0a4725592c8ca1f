#include "agent/scheduler/amortization.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/unit/scheduler/decision_inputs.hpp"

using namespace idletune;
using namespace idletune::test;
using doctest::Approx;

TEST_CASE("the verdict turns at the break-even number of launches") {
  for (double step_ms : {1.0, 50.0, 700.0}) {
    for (double per_step : {0.0, 25.0}) {
      DecisionInput input = plain(1000);
      input.step_cost = from_ms(step_ms);
      input.launches_per_step = per_step;
      const double turn = decide(input).break_even_launches;
      CAPTURE(turn);
      REQUIRE(std::isfinite(turn));
      input.expected_launches = turn * 0.999;
      const Decision below = decide(input);
      CHECK(below.verdict == Verdict::stop);
      CHECK(complete_sentence(below));
      input.expected_launches = turn * 1.001;
      const Decision above = decide(input);
      CHECK(above.verdict == Verdict::tune);
      CHECK(above.break_even_launches == Approx(turn));
      CHECK(above.gain_ns > above.cost_ns);
      CHECK(complete_sentence(above));
    }
  }
}

TEST_CASE("cost is weighted by kappa and break-even is proportional to it") {
  DecisionInput input = plain(1e5);
  const double full = decide(input).break_even_launches;
  input.kappa = 0.1;
  CHECK(decide(input).break_even_launches == Approx(full * 0.1));
}

TEST_CASE("more launches never make tuning pay less") {
  bool tuned = false;
  double gain = 0;
  for (double launches = 1; launches < 1e12; launches *= 3) {
    const Decision decision = decide(plain(launches));
    CHECK(decision.gain_ns >= gain);
    gain = decision.gain_ns;
    if (tuned) CHECK(decision.verdict == Verdict::tune);
    tuned = decision.verdict == Verdict::tune;
  }
  CHECK(tuned);
}

TEST_CASE("nothing is decided before what runs now was timed") {
  DecisionInput input = plain(1e6);
  input.current = Nanoseconds(0);
  const Decision decision = decide(input);
  CHECK(decision.verdict == Verdict::wait);
  CHECK(complete_sentence(decision));
}

TEST_CASE("a good first pick that does not run yet is used and not searched beyond") {
  DecisionInput input = plain(500);
  input.first_pick_relative = 0.95;
  const Decision decision = decide(input);
  CHECK(decision.verdict == Verdict::use_history);
  CHECK(decision.steps == 1);
  CHECK(decision.cost_ns == Approx(50e6));
  CHECK(decision.gain_ns > decision.cost_ns);
  CHECK(complete_sentence(decision));
}

TEST_CASE("a first pick that runs and cannot be beaten with profit is kept") {
  DecisionInput input = plain(300);
  input.first_pick_relative = 0.95;
  input.first_pick_running = true;
  const Decision few = decide(input);
  CHECK(few.verdict == Verdict::use_history);
  CHECK(complete_sentence(few));
  input.expected_launches = 1e9;
  CHECK(decide(input).verdict == Verdict::tune);
}

TEST_CASE("too few launches even for the first pick mean stop") {
  DecisionInput input = plain(20);
  input.first_pick_relative = 0.95;
  CHECK(decide(input).verdict == Verdict::stop);
}

TEST_CASE("what pays waits for a gap that is long enough") {
  DecisionInput input = plain(1e6);
  input.gap_needed = from_ms(30);
  input.longest_gap = from_ms(8);
  const Decision decision = decide(input);
  CHECK(decision.verdict == Verdict::wait);
  CHECK(std::string(decision.reason()).find("30 ms") != std::string::npos);
  CHECK(std::string(decision.reason()).find("8 ms") != std::string::npos);
  input.longest_gap = Nanoseconds(0);  // unknown
  CHECK(decide(input).verdict == Verdict::tune);
  input.longest_gap = from_ms(30);
  CHECK(decide(input).verdict == Verdict::tune);
}

TEST_CASE("what pays waits for the ledger") {
  DecisionInput input = plain(1e6);
  input.allowance = from_ms(49);
  CHECK(decide(input).verdict == Verdict::wait);
  CHECK(complete_sentence(decide(input)));
  input.allowance = from_ms(50);
  CHECK(decide(input).verdict == Verdict::tune);
}

TEST_CASE("absurd input is tamed") {
  const double nan = std::nan("");
  DecisionInput input;
  input.current = from_ms(1);
  input.step_cost = Nanoseconds(-5);
  for (double bad : {nan, -1.0, kInfinity, -kInfinity, 0.0, 1e300}) {
    input.expected_launches = bad;
    input.launches_per_step = bad;
    input.kappa = bad;
    input.clock = bad;
    input.first_pick_relative = bad;
    input.target_ratio = bad;
    input.wanted_probability = bad;
    input.adoption_margin = bad;
    const Decision decision = decide(input);
    CHECK_FALSE(std::isnan(decision.gain_ns));
    CHECK_FALSE(std::isnan(decision.cost_ns));
    CHECK_FALSE(std::isnan(decision.expected_steps));
    CHECK_FALSE(std::isnan(decision.break_even_launches));
    CHECK(complete_sentence(decision));
  }
}

TEST_CASE("names of verdicts and origins are stable") {
  CHECK(std::string(verdict_name(Verdict::use_history)) == "use_history");
  CHECK(std::string(verdict_name(static_cast<Verdict>(99))) == "unknown");
  CHECK(std::string(fraction_origin_name(FractionOrigin::measured)) == "measured");
}

TEST_CASE("with beliefs the verdict turns at the break-even number of launches too") {
  Believed world;
  for (std::size_t told : {0u, 3u, 12u}) {
    while (world.beliefs.measured() < told) {
      const std::size_t entry = 23 - world.beliefs.measured();
      world.tell(entry, 1e6 / std::max(0.05, world.beliefs.relative(entry, 0)));
    }
    const double turn = decide(world.input(1000)).break_even_launches;
    CAPTURE(told);
    CAPTURE(turn);
    REQUIRE(std::isfinite(turn));
    CHECK(decide(world.input(turn * 0.999)).verdict == Verdict::stop);
    const Decision above = decide(world.input(turn * 1.001));
    CHECK(above.verdict == Verdict::tune);
    CHECK(complete_sentence(above));
    CHECK(above.gain_ns > above.cost_ns);
    CHECK(above.break_even_launches == Approx(turn));
  }
}

TEST_CASE("where every configuration has been tried tuning stops and says so") {
  DecisionInput input = plain(1e6);
  REQUIRE(decide(input).verdict == Verdict::tune);
  input.remaining_configurations = 64;
  CHECK(decide(input).verdict == Verdict::tune);
  input.remaining_configurations = 0;
  const Decision decision = decide(input);
  CHECK(decision.verdict == Verdict::stop);
  CHECK(decision.steps == 0);
  CHECK(decision.reason() == "Tuning does not pay: every configuration has been tried.");
  CHECK(complete_sentence(decision));
}

// Bisects for where the verdict is another than at `launches`, above it.
static double next_turn(DecisionInput input, double launches) {
  input.expected_launches = launches;
  const Verdict verdict = decide(input).verdict;
  double low = launches;
  double high = 1e12;
  for (int i = 0; i < 200; ++i) {
    input.expected_launches = (low + high) / 2;
    (decide(input).verdict == verdict ? low : high) = input.expected_launches;
  }
  return high;
}

TEST_CASE("with a first pick each verdict turns at the break-even that it and its neighbour name") {
  Believed world;
  for (std::size_t told : {0u, 3u}) {
    for (bool promised : {false, true}) {
      while (world.beliefs.measured() < told) {
        const std::size_t entry = 23 - world.beliefs.measured();
        world.tell(entry, 1e6 / std::max(0.05, world.beliefs.relative(entry, 0)));
      }
      DecisionInput input = world.input(1);
      input.first_pick_relative = 0.98;
      if (promised) {
        input.promise = Promise();
        input.promise->untuned = from_ms(2);
      }
      CAPTURE(told);
      CAPTURE(promised);
      REQUIRE(decide(input).verdict == Verdict::stop);
      const double first = next_turn(input, 1);
      CHECK(decide(input).break_even_launches == Approx(first));
      input.expected_launches = first * 1.0001;
      const Decision above = decide(input);
      CHECK(above.verdict != Verdict::stop);
      CHECK(above.break_even_launches == Approx(first));
      if (above.verdict != Verdict::use_history) continue;
      CHECK(above.steps == 1);
      const double second = next_turn(input, first * 1.0001);
      input.expected_launches = second * 1.0001;
      CHECK(decide(input).verdict == Verdict::tune);
      CHECK(decide(input).break_even_launches == Approx(second));
    }
  }
}

TEST_CASE("all times multiplied, all decisions are the same") {
  Believed world;
  Believed slow;
  UniformDraws draws;
  UniformDraws slow_draws;
  constexpr std::int64_t kFactor = 7;
  for (std::size_t entry : {0u, 3u, 5u}) {
    world.tell(entry, 1.5e6 / world.beliefs.relative(entry, 0));
    slow.tell(entry, kFactor * 1.5e6 / world.beliefs.relative(entry, 0));
  }
  for (int i = 1; i <= 12; ++i) {
    draws.add(Nanoseconds(2000000 + 130000 * i));
    slow_draws.add(kFactor * Nanoseconds(2000000 + 130000 * i));
  }
  for (double launches : {10.0, 300.0, 3000.0, 1e6}) {
    DecisionInput input = world.input(launches);
    input.draws = &draws;
    const Decision decision = decide(input);
    input.outlook = slow.input(1).outlook;
    input.draws = &slow_draws;
    input.current *= kFactor;
    input.step_cost *= kFactor;
    const Decision scaled = decide(input);
    CHECK(scaled.verdict == decision.verdict);
    CHECK(scaled.steps == decision.steps);
    CHECK(scaled.break_even_launches == Approx(decision.break_even_launches).epsilon(1e-5));
    CHECK(scaled.best_estimate_ns == Approx(kFactor * decision.best_estimate_ns).epsilon(1e-5));
    CHECK(scaled.fraction == Approx(decision.fraction).epsilon(1e-5));
    // The same measurements, and a clock that is slower now.
    input.outlook = world.input(1).outlook;
    input.draws = &draws;
    input.clock = kFactor;
    const Decision throttled = decide(input);
    CHECK(throttled.steps == scaled.steps);
    CHECK(throttled.break_even_launches == Approx(scaled.break_even_launches).epsilon(1e-5));
    CHECK(throttled.best_estimate_ns == Approx(scaled.best_estimate_ns).epsilon(1e-5));
  }
}

TEST_CASE("with no launch to come that is the reason given") {
  const Decision decision = decide(plain(0));
  CHECK(decision.verdict == Verdict::stop);
  CHECK(decision.reason() == "Tuning does not pay: no launch is left to gain by it.");
}
