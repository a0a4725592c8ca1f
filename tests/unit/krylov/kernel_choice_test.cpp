// Which kernel wins, by the times that the race is told.
#include <doctest/doctest.h>

#include <vector>

#include "kernels/krylov/kernel_choice.hpp"
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
int run(KernelChoice& race, const Times& us) {
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
    KernelChoice race;
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
  KernelChoice race;
  race.begin(variants(4));
  int runs[5] = {};
  run(race, [&](std::int32_t group) {
    ++runs[group];
    return group == 3 ? 100.0 : group == 2 && runs[group] == 3 ? 60.0 : 120.0;
  });
  CHECK(race.best().work_group == 3);
}

TEST_CASE("a kernel does not win by a clock that went up after the first one's time") {
  for (int low = 0; low <= 40; ++low) {
    CAPTURE(low);
    KernelChoice race;
    race.begin(variants(4));
    for (int product = 0; !race.over(); ++product) {
      race.go_on();
      const double us = race.current().work_group == 1 ? 3000 : 4300;
      race.took(product < low ? 2.5 * us : us);
      CHECK(race.best().work_group == 1);
    }
  }
}

TEST_CASE("hopeless kernels leave after one or two products, and failed ones at once") {
  KernelChoice race;
  race.begin(variants(4));
  int runs[5] = {};
  while (!race.over()) {
    race.go_on();
    const std::int32_t group = race.current().work_group;
    ++runs[group];
    if (group == 3) {
      race.failed();
    } else {
      race.took(group == 4 ? 400 : group == 2 ? 250 : 100);
    }
  }
  CHECK(runs[1] == 3);
  CHECK(runs[2] == 3);
  CHECK(runs[3] == 1);
  CHECK(runs[4] == 2);
  CHECK(race.best().work_group == 1);
}

TEST_CASE("a race pauses between two kernels and before each round of the best") {
  KernelChoice race;
  race.begin(variants(2));
  for (int i = 0; i < 3; ++i) race.took(100);
  CHECK(!race.running());
  CHECK(race.current().work_group == 1);
  race.go_on();
  CHECK(race.first_run());
  for (int i = 0; i < 3; ++i) race.took(90);
  CHECK(race.running());  // the first one once more, before it is replaced
  CHECK(race.current().work_group == 1);
  race.took(100);
  CHECK(race.best().work_group == 2);
  int turns = 0;
  for (; !race.over(); ++turns) {
    CHECK(race.running() == (turns % 2 == 1));
    CHECK(race.in_finals());
    race.go_on();
    CHECK(!race.first_run());
    race.took(race.current().work_group == 1 ? 100 : 90);
  }
  CHECK(turns == 42);
  CHECK(race.best().work_group == 2);
  // What a model says may follow.
  race.follow({{0, 2}, {1, 7}});
  CHECK(!race.over());
  race.go_on();
  CHECK(race.first_run());
  CHECK(run(race, [](std::int32_t group) { return group == 7 ? 10.0 : 85.0; }) >= 3);
  CHECK(race.best().work_group == 7);
}

TEST_CASE("short products are measured several in a row, once the race goes on") {
  KernelChoice race;
  race.begin(variants(2));
  CHECK(race.in_a_row() == 1);
  race.took(1e6);
  CHECK(race.in_a_row() == 1);
  race.took(20);
  CHECK(!race.running());
  CHECK(race.best_us() == 20);
  race.go_on();
  CHECK(!race.first_run());
  CHECK(race.in_a_row() == 4);
  race.took(10);
  CHECK(race.in_a_row() == 11);  // 100 us
  race.took(9);
  CHECK(race.best_us() == 9);
  CHECK(race.first_us() == 9);
  race.go_on();
  CHECK(race.first_run());
  CHECK(race.in_a_row() == 1);
  for (int i = 0; i < 2; ++i) race.took(20);
  CHECK(race.in_a_row() == 11);
  CHECK(race.usual_row() == 11);
  KernelChoice next;  // of another format, to be compared with
  next.begin(variants(2), race.usual_row());
  for (int i = 0; i < 2; ++i) next.took(20);
  CHECK(next.running());
  CHECK(next.in_a_row() == 11);
}

TEST_CASE("the faster kernel is found although waiting takes longer than it does") {
  int found[2] = {};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const std::uint32_t in_a_row : {0, 1}) {
      Random random(seed);
      KernelChoice race;
      race.begin(variants(12), in_a_row);
      run(race, [&](std::int32_t group) {
        return (group == 7 ? 9.0 : 10.0) + 20 * random.uniform() / race.in_a_row();
      });
      found[in_a_row] += race.best().work_group == 7;
    }
  }
  CHECK(found[0] > 100);
  CHECK(found[0] > 2 * found[1]);
}

TEST_CASE("a format that is far slower is not run in the long rows of the one before") {
  for (const double us : {20.0, 12000.0}) {
    KernelChoice race;
    race.begin(variants(2), 16);
    race.took(us);  // code is generated
    CHECK(race.in_a_row() == 1);
    race.took(us);
    CHECK(race.in_a_row() == (us < 1000 ? 16 : 1));
    race.took(us);
    race.go_on();
    CHECK(race.first_run());
    race.took(20);
    race.took(20);
    CHECK(race.in_a_row() == 16);
  }
}
