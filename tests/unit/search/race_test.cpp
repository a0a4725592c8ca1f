// Who wins a race, by the times that it is told.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <idletune/race.hpp>

#include "models/core/random.hpp"
#include "tests/unit/repeats.hpp"

using namespace idletune;

namespace {

Race::Policy policy_of(std::size_t finalists, std::uint32_t most_runs) {
  Race::Policy policy;
  policy.uncounted = 1;
  policy.heat = 1;
  policy.finalists = finalists;
  policy.halving = 2;
  policy.most_runs = most_runs;
  policy.hopeless = 2;
  return policy;
}

struct Played {
  std::size_t best = Race::kNobody;
  std::vector<std::uint32_t> runs;  // of each
};

// As many entrants as there are times; `time`: of the entrant, and how often it has run.
template <class Time>
Played play(const Race::Policy& policy, std::size_t entrants, const Time& time) {
  Race race(policy);
  for (std::size_t i = 0; i < entrants; ++i) REQUIRE(race.join() == i);
  while (!race.over()) {
    const std::size_t i = race.next();
    race.add(i, time(i, race.runs(i)));
    for (std::size_t out = race.loser(); out != Race::kNobody; out = race.loser()) race.leave(out);
  }
  Played played{race.best(), {}};
  for (std::size_t i = 0; i < entrants; ++i) played.runs.push_back(race.runs(i));
  return played;
}

}  // namespace

TEST_CASE("heats, finals in turns, and the slower half leaves until two are left") {
  const Played played = play(policy_of(5, 50), 8, [](std::size_t i, std::uint32_t run) {
    return Nanoseconds{run == 0 ? 9000 : i == 2 ? 250 : 100 + static_cast<std::int64_t>(i)};
  });
  CHECK(played.best == 0);
  // The third is hopeless; the last two do not reach the finals. 2 * 8 runs in heats; then 2 * 5,
  // 2 * 3 and 2 * 9, in all 50.
  CHECK(played.runs == std::vector<std::uint32_t>{15, 15, 2, 6, 4, 4, 2, 2});
}

TEST_CASE("a race of one is over after its heat, and one that everybody leaves has no winner") {
  const auto same = [](std::size_t, std::uint32_t) { return Nanoseconds{100}; };
  CHECK(play(policy_of(5, 50), 1, same).runs == std::vector<std::uint32_t>{2});
  Race race(policy_of(5, 50));
  CHECK(race.over());
  (void)race.join();
  race.leave(0);
  CHECK(race.over());
  CHECK(race.next() == Race::kNobody);
  CHECK(race.best() == Race::kNobody);
}

TEST_CASE("there is room for kMost entrants") {
  Race race(policy_of(5, 50));
  for (std::size_t i = 0; i < Race::kMost; ++i) CHECK(race.join() == i);
  CHECK(race.join() == Race::kNobody);
  race.remove(3);
  CHECK(race.size() == Race::kMost - 1);
  CHECK(race.join() == Race::kMost - 1);
}

TEST_CASE("those who join a race that is reopened run in a heat, and then all in turns") {
  Race race(policy_of(5, 50));
  for (int i = 0; i < 2; ++i) (void)race.join();
  const auto run = [&race](std::size_t i) { race.add(i, Nanoseconds{100 - i}); };
  for (const std::size_t i : {0, 0, 1, 1, 0, 1, 0, 1}) {
    CHECK(race.next() == i);
    run(i);
  }
  race.reopen();
  REQUIRE(race.join() == 2);
  for (const std::size_t i : {2, 2, 0, 1, 2, 0, 1, 2}) {
    CHECK(race.next() == i);
    run(i);
  }
  CHECK(race.best() == 2);
}

TEST_CASE("the estimator says what an entrant's time is") {
  for (const auto& [estimator, expected] : {std::pair{Estimator::minimum, 10},
                                            {Estimator::lower_quartile, 20},
                                            {Estimator::median, 30}}) {
    Race::Policy policy;
    policy.estimator = estimator;
    Race race(policy);
    (void)race.join();
    for (const int ns : {50, 30, 10, 40, 20}) race.add(0, Nanoseconds{ns});
    CHECK(race.time(0).count() == expected);
  }
}

// Noisy races: `scale` of all times, entrants in the order `places`, and one more that is always
// slower than another.
TEST_CASE("times in another unit and other numbers change nothing, and who is slower never wins") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const auto below = [&](std::size_t bound) {
      return static_cast<std::size_t>(random.below(bound));
    };
    const std::size_t count = 2 + below(10), slower = below(count);
    std::vector<std::vector<std::int64_t>> times(count);  // by entrant and run
    for (std::vector<std::int64_t>& of_one : times) {
      const double typical = 1e5 * (1 + random.uniform());
      for (int run = 0; run < 50; ++run)
        of_one.push_back(static_cast<std::int64_t>(typical * (1 + 0.3 * random.uniform())));
    }
    const std::size_t faster = (slower + 1) % count;
    for (std::size_t run = 0; run < 50; ++run) times[slower][run] = times[faster][run] + 1;
    const Race::Policy policy = policy_of(2 + below(5), 50);
    const Played played = play(policy, count, [&](std::size_t i, std::uint32_t run) {
      return Nanoseconds{times[i][run]};
    });
    CAPTURE(seed);
    CHECK(played.best != slower);
    const Played scaled = play(policy, count, [&](std::size_t i, std::uint32_t run) {
      return Nanoseconds{1000 * times[i][run]};
    });
    CHECK(scaled.best == played.best);
    CHECK(scaled.runs == played.runs);
    std::vector<std::size_t> places(count);
    std::iota(places.begin(), places.end(), std::size_t{0});
    for (std::size_t i = count; i-- > 1;) std::swap(places[i], places[below(i + 1)]);
    const Played mixed = play(policy, count, [&](std::size_t i, std::uint32_t run) {
      return Nanoseconds{times[places[i]][run]};
    });
    CHECK(places[mixed.best] == played.best);
  }
}

// As launches take turns: anybody runs any number of times before somebody else does.
TEST_CASE(
    "the clock changes once: who is slower than what runs does not win, and who is faster does" *
    doctest::skip(test::fewer_repeats())) {
  for (std::uint64_t seed = 0; seed < 10000; ++seed) {
    Random random(seed);
    Race::Policy policy;
    policy.estimator = Estimator::lower_quartile;
    policy.heat = 3;
    policy.enough = 5;
    policy.incumbent = true;
    policy.margin = 0.03;
    Race race(policy);
    std::vector<double> ratios;  // to what runs
    for (std::uint64_t count = 1 + random.below(3); count > 0; --count) {
      ratios.push_back(random.below(2) == 0 ? 0.5 + 0.45 * random.uniform()
                                            : 1.01 + random.uniform());
      (void)race.join();
    }
    const bool faster = *std::min_element(ratios.begin(), ratios.end()) < 1;
    const double clock = random.below(2) == 0 ? 0.2 : 5;
    const std::uint64_t change = random.below(80);
    for (std::uint64_t runs = 0; !race.over();) {
      const auto place = static_cast<std::size_t>(random.below(ratios.size() + 1));
      const std::size_t who = place < ratios.size() ? place : Race::kIncumbent;
      const double time = 1e5 * (who == place ? ratios[place] : 1);
      for (std::uint64_t burst = random.below(2) * random.below(60); burst-- > 0;) {
        const double now = runs++ < change ? 1 : clock;
        race.add(who, Nanoseconds{static_cast<std::int64_t>(time * now)});
      }
      for (std::size_t out = race.loser(); out < race.size(); out = race.loser()) {
        race.remove(out);
        ratios[out] = ratios.back();
        ratios.pop_back();
      }
      REQUIRE(runs < 100000);
    }
    const std::size_t best = race.best();
    CAPTURE(seed);
    CHECK((best != Race::kIncumbent) == faster);
    if (best != Race::kIncumbent) CHECK(ratios[best] < 1);
  }
}

TEST_CASE("a race in which no run took time ends, and nobody has won") {
  Race::Policy policy;
  policy.enough = 2;
  Race race(policy);
  for (int i = 0; i < 2; ++i) (void)race.join();
  for (int i = 0; i < 4; ++i) {
    CHECK_FALSE(race.over());
    race.add(race.next(), Nanoseconds{0});
  }
  CHECK(race.over());
  CHECK(race.best() == Race::kNobody);
}

TEST_CASE("beside a run of no time nobody is hopeless") {
  Race::Policy policy;
  policy.incumbent = true;
  policy.heat = 3;
  policy.enough = 5;
  policy.hopeless = policy.hopeless_in_heat = 2;
  Race race(policy);
  (void)race.join();
  race.add(Race::kIncumbent, Nanoseconds{0});
  race.add(0, Nanoseconds{100});
  CHECK(race.loser() == Race::kNobody);
  for (int i = 0; i < 4; ++i) {
    race.add(Race::kIncumbent, Nanoseconds{200});
    race.add(0, Nanoseconds{100});
    CHECK(race.loser() == Race::kNobody);
  }
  CHECK(race.over());
  CHECK(race.best() == 0);
}

TEST_CASE("what is typical of the last few times forgets those before") {
  RecentTimes times;
  CHECK(times.typical(Estimator::median, 3) == Nanoseconds(0));
  for (int i = 1; i <= 40; ++i) times.add(Nanoseconds(i));
  CHECK(times.median() == Nanoseconds(33));
  CHECK(times.typical(Estimator::median, 5) == Nanoseconds(38));
  CHECK(times.typical(Estimator::minimum, 2) == Nanoseconds(39));
  CHECK(times.typical(Estimator::median, 1) == Nanoseconds(40));
  CHECK(times.typical(Estimator::median, 100) == times.median());
}
