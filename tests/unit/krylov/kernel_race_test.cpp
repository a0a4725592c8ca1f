// Which kernel wins, by the times that the race is told.
#include <doctest/doctest.h>

#include <vector>

#include "kernels/krylov/kernel_race.hpp"
#include "models/core/random.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;

std::vector<KernelVariant> variants(std::int32_t count) {
  std::vector<KernelVariant> all;
  for (std::int32_t i = 0; i < count; ++i) all.push_back({0, i + 1});
  return all;
}

// The number of products until the race is over.
template <class Times>
int run(KernelRace& race, const Times& us) {
  int products = 0;
  while (!race.over()) {
    race.go_on();
    race.took(us(race.current().work_group));
    ++products;
  }
  return products;
}

}  // namespace

TEST_CASE("the fastest of twelve kernels wins within 50 products, however slow its first run") {
  for (int fastest = 1; fastest <= 12; ++fastest) {
    KernelRace race;
    race.begin(variants(12));
    int runs[13] = {};
    const int products = run(race, [&](std::int32_t group) {
      return ++runs[group] == 1 ? 1e6 : group == fastest ? 100.0 : 110.0;
    });
    CHECK(race.best().work_group == fastest);
    CHECK(race.best_us() == 100);
    CHECK(products <= 50);
  }
}

TEST_CASE("one lucky product does not win a race") {
  KernelRace race;
  race.begin(variants(4));
  int runs[5] = {};
  run(race, [&](std::int32_t group) {
    ++runs[group];
    return group == 3 ? 100.0 : group == 2 && runs[group] == 2 ? 50.0 : 120.0;
  });
  CHECK(race.best().work_group == 3);
}

TEST_CASE("hopeless kernels leave after one counted product, and failed ones at once") {
  KernelRace race;
  race.begin(variants(3));
  int runs[4] = {};
  while (!race.over()) {
    race.go_on();
    const std::int32_t group = race.current().work_group;
    ++runs[group];
    if (group == 3) {
      race.failed();
    } else {
      race.took(group == 2 ? 200 : 100);
    }
  }
  CHECK(runs[1] == 3);
  CHECK(runs[2] == 2);
  CHECK(runs[3] == 1);
  CHECK(race.best().work_group == 1);
}

TEST_CASE("between two kernels the race pauses, but not between the turns of the best") {
  KernelRace race;
  race.begin(variants(2));
  for (int i = 0; i < 3; ++i) race.took(100);
  CHECK(!race.running());
  CHECK(race.current().work_group == 1);
  race.go_on();
  CHECK(race.first_run());
  for (int i = 0; i < 3; ++i) race.took(90);
  CHECK(race.running());
  CHECK(!race.first_run());
  for (int i = 0; i < 8; ++i) race.took(race.current().work_group == 1 ? 80 : 90);
  CHECK(race.over());
  CHECK(race.best().work_group == 1);
  // What a model says may follow.
  race.follow({{0, 2}, {1, 7}});
  CHECK(!race.over());
  CHECK(race.first_run());
  CHECK(run(race, [](std::int32_t group) { return group == 7 ? 10.0 : 85.0; }) >= 3);
  CHECK(race.best().work_group == 7);
}
