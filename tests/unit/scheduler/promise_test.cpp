// The promise in agent/scheduler/amortization.hpp: tuning never costs more than its share.

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/unit/scheduler/decision_inputs.hpp"

using namespace idletune;
using namespace idletune::test;
using doctest::Approx;

TEST_CASE("the promise forbids a step that could break it and says from when on it is safe") {
  Believed world;
  // 2 s of launches: 40 ms may be lost, and a step is 50.
  DecisionInput input = world.input(1000);
  const double without = decide(input).break_even_launches;
  REQUIRE(decide(input).verdict == Verdict::tune);
  Promise promise;
  promise.untuned = from_ms(2);
  input.promise = promise;
  const Decision decision = decide(input);
  CHECK(decision.verdict == Verdict::stop);
  CHECK(decision.break_even_launches == Approx(50 / (0.02 * 2)));
  CHECK(decision.break_even_launches > without);
  CHECK(std::string(decision.reason()).find("overhead limit") != std::string::npos);
  CHECK(complete_sentence(decision));
  input.expected_launches = 1251;
  CHECK(decide(input).verdict == Verdict::tune);
  input.step_cost_high = from_ms(80);  // a step may cost that much
  CHECK(decide(input).verdict == Verdict::stop);
  CHECK(decide(input).break_even_launches == Approx(80 / (0.02 * 2)));
  // What the present configuration saves from now on may be spent.
  input.promise->untuned = from_ms(3);
  CHECK(decide(input).verdict == Verdict::tune);
  input.promise->charged = from_ms(1600);
  CHECK(decide(input).verdict == Verdict::stop);
}

TEST_CASE("what is left of the promise is its share of all launches without what was charged") {
  Promise promise;
  promise.untuned = from_ms(2);
  CHECK(left_of(promise, from_ms(2), 1000) == from_ms(40));
  promise.untuned_past = from_ms(500);
  CHECK(left_of(promise, from_ms(2), 1000) == from_ms(50));
  promise.charged = from_ms(20);
  CHECK(left_of(promise, from_ms(2), 1000) == from_ms(30));
  // What runs now is faster by so much.
  CHECK(left_of(promise, from_ms(1.9), 1000) == from_ms(130));
  promise.charged = from_ms(200);
  CHECK(left_of(promise, from_ms(2), 1000) == Nanoseconds{0});
}

TEST_CASE("the verdict allows what is left of the promise and no more") {
  Believed world;
  DecisionInput input = world.input(1250);
  Promise promise;
  promise.untuned = from_ms(2);
  promise.untuned_past = from_ms(700);
  promise.charged = from_ms(10);
  input.promise = promise;
  const Nanoseconds left = left_of(promise, input.current, input.expected_launches);
  input.step_cost_high = left - Nanoseconds(2);
  CHECK(decide(input).verdict == Verdict::tune);
  input.step_cost_high = left + Nanoseconds(2);
  CHECK(decide(input).verdict == Verdict::stop);
}

TEST_CASE("a promise without a time of the untuned launch is none") {
  Believed world;
  DecisionInput input = world.input(1000);
  input.promise = Promise();
  CHECK(decide(input).verdict == Verdict::tune);
}

TEST_CASE("a first pick whose check could break the promise is not tried") {
  DecisionInput input = plain(3400);
  input.first_pick_relative = 0.95;
  Promise promise;
  promise.untuned = from_ms(1);
  input.promise = promise;
  CHECK(decide(input).verdict == Verdict::tune);  // 54 ms of stake, 50 ms of cost
  input.expected_launches = 2000;
  CHECK(decide(input).verdict == Verdict::stop);
  CHECK(decide(input).break_even_launches == Approx(50 / (0.02 * 1)));
}

TEST_CASE("absurd promises and beliefs are tamed") {
  Believed world;
  for (double bad : {std::nan(""), -1.0, kInfinity, 1e300}) {
    DecisionInput input = world.input(1000);
    Promise promise;
    promise.share = bad;
    promise.untuned = Nanoseconds::max();
    promise.untuned_past = Nanoseconds::max();
    promise.charged = Nanoseconds::min() + Nanoseconds(1);
    input.promise = promise;
    input.outlook.random_share = bad;
    const Decision decision = decide(input);
    CHECK_FALSE(std::isnan(decision.gain_ns));
    CHECK_FALSE(std::isnan(decision.break_even_launches));
    CHECK(complete_sentence(decision));
  }
}
