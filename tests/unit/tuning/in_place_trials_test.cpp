#include "agent/tuning/in_place_trials.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "agent/launch/launch_table.hpp"
#include "tests/unit/tuning/recorded_noise.hpp"

using namespace idletune;
using namespace idletune::detail;

namespace {

constexpr std::size_t kIncumbent = Race::kIncumbent;

Nanoseconds us(std::int64_t value) { return std::chrono::microseconds(value); }

// With as many candidates as ratios of the screening are given.
InPlaceTrials trials_of(const std::vector<double>& screened, double max_slowdown = 0.05) {
  InPlaceTrials race({}, max_slowdown);
  for (const double ratio : screened) race.join(ratio);
  return race;
}

// As many launches of each as of what runs, which takes 100 us.
void launch(InPlaceTrials& race, const std::vector<std::int64_t>& candidates, int times) {
  for (int i = 0; i < times; ++i) {
    race.times.add(kIncumbent, us(100));
    for (std::size_t c = 0; c < candidates.size(); ++c) race.times.add(c, us(candidates[c]));
  }
}

std::uint32_t cycle(const InPlaceTrials& race) { return race.turns() >> 2; }

}  // namespace

TEST_CASE("racers take turns: each once in a cycle, and at every place of it") {
  const std::uint32_t turns = LaunchTurns::pack(6, 3);
  int at[4][4] = {};
  for (std::uint64_t launch = 0; launch < 6 * 64; ++launch) {
    const std::uint32_t racer = LaunchTurns::at(turns, launch);
    CHECK((racer == LaunchTurns::kNobody) == (launch % 6 >= 4));
    if (racer != LaunchTurns::kNobody) ++at[racer][launch % 6];
  }
  for (const auto& racer : at) {
    for (const int times : racer) CHECK(times == 16);
  }
}

TEST_CASE("the share of candidate launches keeps the slow-down that was allowed") {
  InPlaceTrials race = trials_of({1.2});
  CHECK(cycle(race) == 4);  // 20 % slower in the screening
  launch(race, {110}, 1);
  CHECK(cycle(race) == 2);             // 10 % slower every second launch: 5 %
  CHECK(cycle(trials_of({0})) == 40);  // unknown
  CHECK(cycle(trials_of({1.2, 1.1, 1.1})) == 8);
  CHECK(cycle(trials_of({1.2}, std::nan(""))) >= 1);
  CHECK(cycle(trials_of({1.1, 0.9, 1.0})) == 4);  // the fast one makes good what the slow one costs
}

TEST_CASE("a hopeless candidate is launched once, a clearly slower one three times") {
  InPlaceTrials race = trials_of({1, 1});
  launch(race, {90, 500}, 1);
  CHECK(race.times.loser() == 1);
  race = trials_of({1, 1});
  launch(race, {90, 200}, 2);
  CHECK(race.times.loser() == Race::kNobody);
  launch(race, {90, 200}, 1);
  CHECK(race.times.loser() == 1);
}

TEST_CASE("the best two of four go on after three launches of each") {
  InPlaceTrials race = trials_of({1, 1, 1});
  launch(race, {95, 90, 98}, 2);
  CHECK(race.times.loser() == Race::kNobody);
  launch(race, {95, 90, 98}, 1);
  REQUIRE(race.times.loser() == 2);
  race.times.remove(2);
  CHECK(race.times.loser() == Race::kNobody);
  CHECK(race.times.size() == 2);
  CHECK(race.turns() == LaunchTurns::pack(3, 2));
}

TEST_CASE("what runs takes one of the two places while it is one of the best two") {
  InPlaceTrials race = trials_of({1, 1, 1});
  launch(race, {120, 99, 110}, 3);
  REQUIRE(race.times.loser() == 0);
  race.times.remove(0);
  REQUIRE(race.times.loser() == 0);  // the last one took its place
  race.times.remove(0);
  CHECK(race.times.loser() == Race::kNobody);
  CHECK(race.turns() == LaunchTurns::pack(2, 1));
  launch(race, {99}, 1);
  CHECK_FALSE(race.times.over());
  launch(race, {99}, 1);
  CHECK(race.times.over());
  CHECK(race.times.best() == kIncumbent);  // a win below the margin is none
}

TEST_CASE("a faster candidate wins after enough launches of both") {
  InPlaceTrials race = trials_of({1});
  launch(race, {80}, 4);
  CHECK_FALSE(race.times.over());
  launch(race, {80}, 1);
  CHECK(race.times.over());
  CHECK(race.times.best() == 0);
  CHECK(race.times.ratio(0) == doctest::Approx(0.8));
}

TEST_CASE(
    "a candidate that joins later is waited for, and where something else runs all begin anew") {
  InPlaceTrials race = trials_of({1});
  launch(race, {80}, 7);
  race.join(0.9);
  CHECK_FALSE(race.times.over());
  CHECK(race.times.loser() == Race::kNobody);
  race.times.restart();
  CHECK(race.times.ratio(0) == 1);
  CHECK(race.times.times(kIncumbent).count() == 0);
}

namespace {

struct Played {
  int right = 0;   // picked the best, or one within 2 %
  int of_100 = 0;  // decided after 24 launches
};

// A hundred races of four variants, each the best in a quarter of them, the others 10 to 20 %
// slower. As many launches as are timed: 24.
Played races(bool busy) {
  Played played;
  const std::vector<int>& noise = test::recorded_noise(busy);
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    std::vector<double> us_of{1100, 1150, 1200};
    us_of.insert(us_of.begin() + seed % 4, 1000);
    InPlaceTrials race = trials_of({1, 1, 1}, 0.2);
    std::vector<std::size_t> variants{0, 1, 2};  // those that race; 3: what runs
    int timed = 0;
    for (std::uint64_t launch = 0; timed < 24; ++launch) {
      const std::uint32_t turn = LaunchTurns::at(race.turns(), launch);
      if (turn == LaunchTurns::kNobody) continue;
      ++timed;
      const std::size_t variant = turn == LaunchTurns::kCandidates ? 3 : variants[turn];
      const double disturbed = us_of[variant] * noise[random() % noise.size()] / 1000;
      race.times.add(turn == LaunchTurns::kCandidates ? kIncumbent : turn,
                     us(static_cast<std::int64_t>(disturbed)));
      for (std::size_t out = race.times.loser(); out < race.times.size();
           out = race.times.loser()) {
        race.times.remove(out);
        variants[out] = variants[race.times.size()];
      }
      if (race.times.over()) break;
    }
    const std::size_t winner = race.times.best();
    const std::size_t won = winner < race.times.size() ? variants[winner] : 3;
    played.right += us_of[won] <= 1020;
    played.of_100 += race.times.over();
  }
  return played;
}

}  // namespace

TEST_CASE("24 launches find the best of four, 10 % ahead, in noise that was recorded") {
  for (const bool busy : {false, true}) {
    CAPTURE(busy);
    const Played played = races(busy);
    CHECK(played.right >= 90);
    CHECK(played.of_100 >= (busy ? 80 : 95));
  }
}

TEST_CASE("While the clock changes three times the fastest wins 499 of 500 races") {
  int mistakes = 0;
  for (unsigned seed = 0; seed < 5000; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](int n) { return static_cast<int>(random() % unsigned(n)); };
    const int clocks[] = {100, 120 + below(100), 120 + below(100), 100};
    const int changes[] = {below(12), below(12), below(12)};
    std::vector<std::int64_t> parts;  // of the clock, per racer; what runs is the last
    for (int i = 0; i < 1 + below(3); ++i) parts.push_back(110 + below(60));
    if (below(3) > 0) parts[static_cast<std::size_t>(below(static_cast<int>(parts.size())))] = 90;
    InPlaceTrials race = trials_of(std::vector<double>(parts.size(), 1.0));
    // Tickets run out: now one, now the other is timed more often between two looks.
    for (int look = 0; race.times.size() > 0 && !race.times.over(); ++look) {
      std::int64_t clock = clocks[0];
      for (int i = 0; i < 3; ++i) clock = look >= changes[i] ? clocks[i + 1] : clock;
      for (int i = below(3); i >= 0; --i) race.times.add(kIncumbent, us(clock));
      for (std::size_t c = 0; c < race.times.size(); ++c)
        for (int i = below(3); i >= 0; --i) race.times.add(c, us(clock * parts[c] / 100));
      for (std::size_t out = race.times.loser(); out < race.times.size();
           out = race.times.loser()) {
        mistakes += parts[out] == 90;
        race.times.remove(out);
        parts[out] = parts[race.times.size()];
      }
    }
    for (std::size_t c = 0; c < race.times.size(); ++c)
      mistakes += (race.times.best() == c) != (parts[c] == 90);
  }
  CHECK(mistakes <= 10);
}
