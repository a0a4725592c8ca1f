// What must hold for whatever is told: the answer does not depend on how often, or in which order.
#include <doctest/doctest.h>

#include "tests/unit/skip.hpp"

#ifdef IDLETUNE_WITH_RAPIDCHECK
#include <map>
#include <utility>
#include <vector>

#include <idletune/tuner.hpp>

#include "tests/unit/relations.hpp"

namespace {

using namespace idletune;

struct Told {
  int x, y;
  int time;  // 0: it failed
};

Tuner opened() {
  TunerOptions options;
  options.parameters = {{"X", {0, 1, 2, 3, 4}}, {"Y", {0, 1, 2, 3}}};
  options.seed = 1;
  auto tuner = Tuner::open(options);
  RC_ASSERT(tuner.ok());
  return std::move(*tuner);
}

void tell(Tuner& tuner, const Told& told) {
  tuner.tell({told.x, told.y},
             {told.time > 0 ? TrialStatus::correct : TrialStatus::runtime, Nanoseconds(told.time)});
}

std::vector<Told> drawn() {
  const auto one = rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(0, 6), rc::gen::inRange(0, 5), rc::gen::inRange(0, 50)),
      [](const std::tuple<int, int, int>& told) {
        return Told{std::get<0>(told), std::get<1>(told), std::get<2>(told)};
      });
  return *rc::gen::container<std::vector<Told>>(one);
}

}  // namespace

TEST_CASE("what is told twice or in another order gives the same answer" *
          doctest::test_suite("RapidCheck")) {
  test::check_relation("told", [] {
    const std::vector<Told> all = drawn();
    Tuner once = opened(), often = opened();
    std::map<std::pair<int, int>, int> times;
    for (const Told& told : all) {
      tell(once, told);
      if (told.x > 4 || told.y > 3) continue;  // not in the space
      const auto known = times.insert({{told.x, told.y}, told.time}).first;
      known->second = std::min(known->second, told.time);  // 0: it failed, once and for all
    }
    for (auto told = all.rbegin(); told != all.rend(); ++told) {
      for (int i = 0; i < 3; ++i) tell(often, *told);
    }
    int best = 0;
    for (const auto& [configuration, time] : times) {
      if (time > 0) best = best == 0 ? time : std::min(best, time);
    }
    RC_ASSERT(once.told() == times.size());
    RC_ASSERT(often.told() == times.size());
    RC_ASSERT(once.best_time() == Nanoseconds(best));
    RC_ASSERT(often.best_time() == Nanoseconds(best));
    const Configuration of_once = once.best();
    if (best > 0)
      RC_ASSERT((times[{static_cast<int>(of_once[0]), static_cast<int>(of_once[1])}]) == best);
    std::size_t asked = 0;
    while (once.ask()) ++asked;
    RC_ASSERT(asked + times.size() == 20u);
  });
}
#else
TEST_CASE("what is told twice or in another order gives the same answer" *
          doctest::test_suite("RapidCheck")) {
  idletune::test::skip("built without RapidCheck (librapidcheck-dev)");
}
#endif
