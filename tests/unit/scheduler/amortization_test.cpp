#include "agent/scheduler/amortization.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "agent/belief/relative_performance.hpp"
#include "models/core/random.hpp"
#include "tests/unit/scheduler/two_source_model.hpp"

using namespace idletune;
using doctest::Approx;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Nanoseconds from_ms(double ms) { return Nanoseconds(static_cast<std::int64_t>(ms * 1e6)); }

// 1 ms per launch, 50 ms per step, nothing known.
DecisionInput plain(double launches) {
  DecisionInput input;
  input.current = from_ms(1);
  input.step_cost = from_ms(50);
  input.expected_launches = launches;
  return input;
}

bool complete_sentence(const Decision& decision) {
  const std::string text(decision.reason());
  return text.size() > 20 && text.back() == '.' && text.size() + 1 < sizeof decision.reason_text &&
         text.find("nan") == std::string::npos;
}

// Half of the space at q = 0.5 exactly, half at 1: every figure of the look-ahead has a closed form
// but for the knots' vanishing width.
const std::vector<float> kTwoValues{0.5f, 0.5f, 1.0f, 1.0f};
const std::vector<float> kTwoLevels{0.0f, 0.5f, 0.5f, 1.0f};

}  // namespace

TEST_CASE("the number of steps is formula 2 of the paper") {
  // The paper's own example: 1 % well-performing, 90 % chance: about 230 configurations.
  CHECK(steps_for_probability(0.01, 0.9) == Approx(229.105).epsilon(1e-5));
  CHECK(std::ceil(steps_for_probability(0.01, 0.9)) == 230);
  CHECK(steps_for_probability(0.05, 0.95) == Approx(58.404).epsilon(1e-4));
  CHECK(steps_for_probability(0.5, 0.75) == Approx(2.0));
}

TEST_CASE("the number of steps has sensible ends") {
  CHECK(steps_for_probability(0, 0.9) == kInfinity);
  CHECK(steps_for_probability(-1, 0.9) == kInfinity);
  CHECK(steps_for_probability(std::nan(""), 0.9) == kInfinity);
  CHECK(steps_for_probability(1, 0.9) == 1);
  CHECK(steps_for_probability(0.1, 0) == 0);
  CHECK(steps_for_probability(0.1, 1) == kInfinity);
  CHECK(steps_for_probability(1e-12, 0.9) == Approx(2.302585e12).epsilon(1e-5));
}

TEST_CASE("formula 1 is the inverse of formula 2") {
  for (double fraction : {0.0005, 0.01, 0.3, 0.9}) {
    for (double probability : {0.1, 0.5, 0.9, 0.999}) {
      CAPTURE(fraction);
      CHECK(probability_after_steps(fraction, steps_for_probability(fraction, probability)) ==
            Approx(probability));
    }
  }
  CHECK(probability_after_steps(0.1, 0) == 0);
  CHECK(probability_after_steps(0, 100) == 0);
  CHECK(probability_after_steps(1, 1) == 1);
}

TEST_CASE("the reported steps follow the fraction that a model gives") {
  DecisionInput input = plain(1e5);
  input.fraction = 0.01;
  const Decision decision = decide(input);
  CHECK(decision.fraction == Approx(0.01));
  CHECK(decision.fraction_origin == FractionOrigin::model);
  CHECK(decision.expected_steps == 230);
  input.fraction = 0.0;
  CHECK(decide(input).expected_steps == kInfinity);
}

TEST_CASE("draws that fail lower the believed share and with it the gain of a step") {
  // A Gamma prior worth 2 hits in 2 / p_b draws: (2 + 0) / (200 + 100).
  UniformDraws draws;
  DecisionInput input = plain(100);
  input.fraction = 0.01;
  const Decision before = decide(input);
  input.draws = &draws;
  for (int i = 0; i < 100; ++i) draws.add_failure();
  const Decision after = decide(input);
  CHECK(after.fraction == Approx(2.0 / 300));
  CHECK(after.fraction_origin == FractionOrigin::model);
  CHECK(after.gain_ns < before.gain_ns / 2);  // of what improves at all, far more was expected
  CHECK(after.break_even_launches > before.break_even_launches);
  for (int i = 0; i < 101; ++i) draws.add_failure();
  CHECK(decide(input).fraction_origin == FractionOrigin::measured);
}

TEST_CASE("the look-ahead agrees with the closed form for a space of two values") {
  // t_best = 1 ms is certain (what runs now is predicted to have q = 0.5 and takes 2 ms, and a
  // launch of 1 ms was seen), a draw gains 1 ms with chance 1/2: E[gain of best of k] = (1 - 2^-k)
  // ms.
  DecisionInput input;
  input.current = from_ms(2);
  input.best_here = from_ms(1);
  input.current_relative = 1.0;  // puts the scale at the cut-off
  input.quantiles = kTwoValues;
  input.quantile_levels = kTwoLevels;
  input.step_cost = from_ms(10);
  input.expected_launches = 1000;
  const Decision decision = decide(input);
  // Net gain in ms: 1000 (1 - 2^-k) - 10 k: of k = 1, 2, 4, ... and 3, 6, 12, ... the best is 924.4
  // at k = 6 (897.5 at 4, 916.1 at 8).
  CHECK(decision.best_estimate_ns == Approx(1e6));
  CHECK(decision.verdict == Verdict::tune);
  CHECK(decision.steps == 6);
  CHECK(decision.cost_ns == Approx(60e6));
  CHECK(decision.gain_ns == Approx(984.375e6));
  // In expectation it pays from 20 launches on (k = 1: 10 ms for 0.5 ms a launch). The 25 %
  // quantile of the gain is 1 ms from k = 3 on, where all draws are slow with chance 1/8: from 30
  // launches on.
  CHECK(decision.break_even_launches == Approx(30.0));
  CHECK(decision.pessimistic_net_ns == Approx(970e6));
}

TEST_CASE("launches that pass while steps are made gain nothing") {
  DecisionInput input;
  input.current = from_ms(2);
  input.best_here = from_ms(1);
  input.current_relative = 1.0;
  input.quantiles = kTwoValues;
  input.quantile_levels = kTwoLevels;
  input.step_cost = from_ms(10);
  input.expected_launches = 1000;
  input.launches_per_step = 100;
  const Decision decision = decide(input);
  // Now 900 x 0.5 - 10 = 440, 800 x 0.75 - 20 = 580, 700 x 0.875 - 30 = 582.5, 600 x 0.9375 - 40 =
  // 522.5 (ms) for k = 1, 2, 3, 4; k = 2 is within 1 % of k = 3 and shorter.
  CHECK(decision.verdict == Verdict::tune);
  CHECK(decision.steps == 2);
  CHECK(decision.gain_ns == Approx(600e6));
  input.launches_per_step = 1000;
  CHECK(decide(input).verdict == Verdict::stop);
}

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
  DecisionInput input = plain(3000);
  input.first_pick_relative = 0.95;
  const Decision decision = decide(input);
  CHECK(decision.verdict == Verdict::use_history);
  CHECK(decision.steps == 1);
  CHECK(decision.cost_ns == Approx(50e6));
  CHECK(decision.gain_ns > decision.cost_ns);
  CHECK(complete_sentence(decision));
}

TEST_CASE("a first pick that runs and cannot be beaten with profit is kept") {
  DecisionInput input = plain(3000);
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

TEST_CASE("improvements below the adoption margin gain nothing") {
  // Everything in the space is within 2 % of the best.
  const std::vector<float> flat{0.98f, 1.0f};
  DecisionInput input = plain(1e9);
  input.quantiles = flat;
  input.current_relative = 0.98;
  input.best_here = from_ms(1);
  const std::vector<float> quantiles = flat;
  const Decision decision = decide(input);
  input.adoption_margin = 0.0;
  CHECK(decision.gain_ns < decide(input).gain_ns);
}

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
  CHECK(decide(input).fraction < 0.05);
}

TEST_CASE("search for a rare fast configuration goes on while launches justify it") {
  // 1 % of the space is twice as fast as the rest's best; p_b from a model says so.
  const std::vector<float> quantiles{0.1f, 0.5f, 0.9f, 1.0f};
  const std::vector<float> levels{0.0f, 0.99f, 0.99f, 1.0f};
  double steps = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    UniformDraws draws;
    DecisionInput input;
    input.quantiles = quantiles;
    input.quantile_levels = levels;
    input.fraction = 0.01;
    input.draws = &draws;
    input.step_cost = from_ms(10);
    input.expected_launches = 1e5;  // 50 s to be gained, 1 s of steps expected
    double best = 2.0;
    input.current = from_ms(best);
    while (decide(input).verdict == Verdict::tune && draws.count() < 3000) {
      const double q = random.uniform() < 0.01 ? 0.95 : 0.1 + 0.4 * random.uniform();
      draws.add(from_ms(1.0 / q));
      best = std::min(best, 1.0 / q);
      input.current = from_ms(best);
    }
    CAPTURE(std::string(decide(input).reason()));
    CHECK(best < 1.1);
    steps += draws.count();
  }
  // On average about 100 draws to the first hit; then at most a few more.
  CHECK(steps / 40 > 50);
  CHECK(steps / 40 < 400);
}

TEST_CASE("the total time with the decision stays close to the better of tuning and not tuning") {
  // Spaces drawn from the prior, policies compared in expectation: time of all launches plus
  // charge.
  const RelativePerformance prior = RelativePerformance::prior();
  for (double launches : {30.0, 1e3, 1e5}) {
    double with_decision = 0;
    double never = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Random random(seed);
      UniformDraws draws;
      DecisionInput input = plain(launches);
      input.draws = &draws;
      const double start = 1.0 / prior.correct_quantile(random.uniform());  // t_best = 1 ms
      double current = start;
      double charged = 0;
      for (int step = 0; step < 3000; ++step) {
        input.current = from_ms(current);
        if (decide(input).verdict != Verdict::tune) break;
        charged += 50;
        const double time = 1.0 / prior.correct_quantile(random.uniform());
        draws.add(from_ms(time));
        if (time < 0.97 * current) current = time;
      }
      with_decision += charged + launches * current;
      never += launches * start;
    }
    CAPTURE(launches);
    CHECK(with_decision <= 1.02 * never);
    if (launches >= 1e5) CHECK(with_decision < 0.6 * never);
  }
}

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

TEST_CASE("absurd input is tamed") {
  const double nan = std::nan("");
  DecisionInput input;
  input.current = from_ms(1);
  input.step_cost = Nanoseconds(-5);
  for (double bad : {nan, -1.0, kInfinity, -kInfinity, 0.0, 1e300}) {
    input.expected_launches = bad;
    input.launches_per_step = bad;
    input.kappa = bad;
    input.fraction = bad;
    input.current_relative = bad;
    input.first_pick_relative = bad;
    input.target_ratio = bad;
    input.wanted_probability = bad;
    input.adoption_margin = bad;
    input.pessimism = bad;
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

namespace {

struct Believed {
  explicit Believed(std::size_t entries = 24,
                    const std::function<void(test::ModelContent&)>& edit = {})
      : model(test::two_source_model(entries, edit)), beliefs(model->kernels()[0]) {
    const auto at = quantile_levels();
    for (std::size_t i = 0; i < kQuantileCount; ++i) {
      levels[i] = static_cast<float>(at[i]);
      values[i] = static_cast<float>(model->kernels()[0].relative_performance_quantile(at[i]));
    }
  }
  // 2 ms per launch, 50 ms per step.
  DecisionInput input(double launches) const {
    DecisionInput input = plain(launches);
    input.current = from_ms(2);
    input.outlook = {&beliefs, 0.25};
    input.quantiles = values;
    input.quantile_levels = levels;
    input.fraction = model->kernels()[0].cautious_fraction(0.9);
    return input;
  }
  std::shared_ptr<const Model> model;
  DevicePosterior beliefs;
  std::array<float, kQuantileCount> values{};
  std::array<float, kQuantileCount> levels{};
};

}  // namespace

TEST_CASE("with beliefs the verdict turns at the break-even number of launches too") {
  Believed world;
  for (std::size_t told : {0u, 3u, 12u}) {
    while (world.beliefs.measured() < told) {
      const std::size_t entry = 23 - world.beliefs.measured();
      world.beliefs.tell_entry(entry, 1e6 / std::max(0.05, world.beliefs.relative(entry, 0)));
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

TEST_CASE("an uncertain fraction has an interval, which draws narrow") {
  Believed world;
  DecisionInput input = world.input(1e4);
  const Decision before = decide(input);
  CHECK(before.fraction > 0);
  CHECK(before.fraction_low < before.fraction);
  CHECK(before.fraction_high > before.fraction);
  UniformDraws draws;
  input.draws = &draws;
  for (int i = 0; i < 300; ++i) draws.add(from_ms(i % 10 == 0 ? 1.9 : 6));
  const Decision after = decide(input);
  const auto width = [](const Decision& d) {
    return d.fraction_high / std::max(1e-9, d.fraction_low);
  };
  CHECK(width(after) < width(before));
}

TEST_CASE("a history that is a sample counts by the pessimistic end") {
  Believed whole;
  Believed sampled(24, [](test::ModelContent& content) {
    for (test::SourceContent& source : content.sources) {
      source.valid = 100000;
      source.measured = 100;
    }
  });
  CHECK(sampled.model->kernels()[0].cautious_fraction(0.9) <
        whole.model->kernels()[0].cautious_fraction(0.9));
  const Decision of_whole = decide(whole.input(1e4));
  const Decision of_sample = decide(sampled.input(1e4));
  CHECK(of_sample.fraction < of_whole.fraction);
  CHECK(of_sample.expected_steps > of_whole.expected_steps);
  CHECK(of_sample.gain_ns - of_sample.cost_ns <= of_whole.gain_ns - of_whole.cost_ns);
}

TEST_CASE("the promise forbids a step that could break it and says from when on it is safe") {
  Believed world;
  // 2 s of launches: of the 40 ms that may be lost 32 are risked, and a step is 50.
  DecisionInput input = world.input(1000);
  const double without = decide(input).break_even_launches;
  REQUIRE(decide(input).verdict == Verdict::tune);
  Promise promise;
  promise.untuned = from_ms(2);
  input.promise = promise;
  const Decision decision = decide(input);
  CHECK(decision.verdict == Verdict::stop);
  CHECK(decision.break_even_launches == Approx(50 / (0.8 * 0.02 * 2)));
  CHECK(decision.break_even_launches > without);
  CHECK(std::string(decision.reason()).find("overhead limit") != std::string::npos);
  CHECK(complete_sentence(decision));
  input.expected_launches = 1564;
  CHECK(decide(input).verdict == Verdict::tune);
  input.step_cost_high = from_ms(80);  // a step may cost that much
  CHECK(decide(input).verdict == Verdict::stop);
  CHECK(decide(input).break_even_launches == Approx(80 / (0.8 * 0.02 * 2)));
  // What was saved, or what the present configuration saves from now on, may be spent.
  input.promise->saved = from_ms(200);
  CHECK(decide(input).verdict == Verdict::tune);
  input.promise->saved = Nanoseconds(0);
  input.promise->untuned = from_ms(3);
  CHECK(decide(input).verdict == Verdict::tune);
  input.promise->charged = from_ms(1400);
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
  CHECK(decide(input).verdict == Verdict::use_history);  // 54 ms of stake, 50 ms of cost
  input.expected_launches = 2000;
  CHECK(decide(input).verdict == Verdict::stop);
}

TEST_CASE("absurd promises and beliefs are tamed") {
  Believed world;
  for (double bad : {std::nan(""), -1.0, kInfinity, 1e300}) {
    DecisionInput input = world.input(1000);
    Promise promise;
    promise.share = bad;
    promise.untuned = Nanoseconds::max();
    promise.untuned_past = Nanoseconds::max();
    promise.saved = Nanoseconds::min() + Nanoseconds(1);
    input.promise = promise;
    input.outlook.random_share = bad;
    const Decision decision = decide(input);
    CHECK_FALSE(std::isnan(decision.gain_ns));
    CHECK_FALSE(std::isnan(decision.break_even_launches));
    CHECK(complete_sentence(decision));
  }
}
