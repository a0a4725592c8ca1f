#include "agent/belief/uniform_draws.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "models/core/random.hpp"

using idletune::Nanoseconds;
using idletune::Random;
using idletune::UniformDraws;

TEST_CASE("few draws are kept exactly and sorted") {
  UniformDraws draws;
  for (int time : {500, 100, 300, 300, 200}) draws.add(Nanoseconds(time));
  draws.add_failure();
  draws.add(Nanoseconds(0));
  CHECK(draws.count() == 7);
  CHECK(draws.correct() == 5);
  CHECK(draws.failed() == 2);
  CHECK(draws.best() == Nanoseconds(100));
  const std::vector<Nanoseconds> expected{Nanoseconds(100), Nanoseconds(200), Nanoseconds(300),
                                          Nanoseconds(300), Nanoseconds(500)};
  REQUIRE(draws.times().size() == expected.size());
  CHECK(std::equal(expected.begin(), expected.end(), draws.times().begin()));
}

TEST_CASE("a draw that is taken back has failed, also where its time was rounded") {
  UniformDraws draws;
  for (int time : {50000, 10000, 30000}) draws.add(Nanoseconds(time));
  draws.take_back(Nanoseconds(10001));
  CHECK(draws.correct() == 2);
  CHECK(draws.failed() == 1);
  CHECK(draws.best() == Nanoseconds(30000));
  draws.take_back(Nanoseconds(49999));
  REQUIRE(draws.times().size() == 1);
  CHECK(draws.times()[0] == Nanoseconds(30000));
  draws.take_back(Nanoseconds(60000));
  draws.take_back(Nanoseconds(60000));
  CHECK(draws.count() == 3);
  CHECK(draws.best() == Nanoseconds(0));
}

TEST_CASE("without draws there is neither a best nor a count") {
  const UniformDraws draws;
  CHECK(draws.count() == 0);
  CHECK(draws.best() == Nanoseconds(0));
  CHECK(draws.times().empty());
}

TEST_CASE("the fastest draw is known however many there were") {
  UniformDraws draws;
  Random random(5);
  std::int64_t best = 1 << 30;
  for (int i = 0; i < 5000; ++i) {
    const auto time = 1000 + static_cast<std::int64_t>(random.below(100000));
    best = std::min(best, time);
    draws.add(Nanoseconds(time));
  }
  CHECK(draws.times().size() == UniformDraws::kCapacity);
  CHECK(draws.best() == Nanoseconds(best));
}

TEST_CASE("the bounded sample is uniform over all draws and the same in every run") {
  // 3200 draws in rising order: about half of the sample of 64 must come from the first half (mean
  // 32, standard deviation 4).
  UniformDraws ordered;
  for (int i = 1; i <= 3200; ++i) ordered.add(Nanoseconds(i));
  int in_first_half = 0;
  for (Nanoseconds time : ordered.times()) in_first_half += time.count() <= 1600 ? 1 : 0;
  CHECK(in_first_half >= 16);
  CHECK(in_first_half <= 48);

  UniformDraws a;
  UniformDraws b;
  for (int i = 0; i < 1000; ++i) {
    a.add(Nanoseconds(1 + i * 7919 % 1000));
    b.add(Nanoseconds(1 + i * 7919 % 1000));
  }
  CHECK(std::equal(a.times().begin(), a.times().end(), b.times().begin()));
}
