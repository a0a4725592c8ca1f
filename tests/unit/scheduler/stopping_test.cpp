// Whole searches in which the decision is made anew after each draw.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "models/core/random.hpp"
#include "tests/unit/repeats.hpp"
#include "tests/unit/scheduler/decision_inputs.hpp"

using namespace idletune;
using namespace idletune::test;

TEST_CASE("draws without success make further search less attractive until it stops") {
  // The default is already the best of the space: every draw is slower.
  UniformDraws draws;
  Random random(17);
  DecisionInput input = plain(2e5);
  input.step_cost = from_ms(20);
  input.draws = &draws;
  int stopped_after = -1;
  for (int i = 0; i < 4000 && stopped_after < 0; ++i) {
    if (decide(input).verdict == Verdict::stop) stopped_after = i;
    draws.add(from_ms(1.0 + 4.0 * random.uniform()));
  }
  CHECK(stopped_after > 3);
  CHECK(stopped_after < 2000);
}

TEST_CASE("search for a rare fast configuration goes on while launches justify it" *
          doctest::skip(test::fewer_repeats())) {
  // 1 % of the space is twice as fast as the rest's best.
  double steps = 0;
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    UniformDraws draws;
    DecisionInput input;
    input.draws = &draws;
    input.step_cost = from_ms(10);
    input.expected_launches = 1e6;  // 500 s to be gained, 1 s of steps expected
    double best = 2.0;
    input.current = from_ms(best);
    while (decide(input).verdict == Verdict::tune && draws.count() < 3000) {
      const double q = random.uniform() < 0.01 ? 0.95 : 0.1 + 0.4 * random.uniform();
      draws.add(from_ms(1.0 / q));
      best = std::min(best, 1.0 / q);
      input.current = from_ms(best);
    }
    CAPTURE(std::string(decide(input).reason()));
    found += best < 1.1 ? 1 : 0;
    steps += draws.count();
  }
  CHECK(found >= 38);
  CHECK(steps / 40 > 100);  // on average, to the first hit
  CHECK(steps / 40 < 2000);
}

TEST_CASE("the total time with the decision stays close to the better of tuning and not tuning") {
  // Policies compared in expectation: time of all launches plus charge.
  for (double launches : {30.0, 1e3, 1e5}) {
    double with_decision = 0;
    double never = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Random random(seed);
      UniformDraws draws;
      DecisionInput input = plain(launches);
      input.draws = &draws;
      const double start = 1e-6 * static_cast<double>(drawn_time(random).count());
      double current = start;
      double charged = 0;
      for (int step = 0; step < 3000; ++step) {
        input.current = from_ms(current);
        if (decide(input).verdict != Verdict::tune) break;
        charged += 50;
        const double time = 1e-6 * static_cast<double>(drawn_time(random).count());
        draws.add(from_ms(time));
        if (time < 0.97 * current) current = time;
      }
      with_decision += charged + launches * current;
      never += launches * start;
    }
    CAPTURE(launches);
    CHECK(with_decision <= 1.02 * never);
    if (launches >= 1e5) CHECK(with_decision < 0.85 * never);
  }
}
