#include "agent/host/explore/listed_configurations.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/explore/scripted_runner.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::explore;

TEST_CASE("a longer list of configurations begins with the shorter one") {
  const auto package = explore::test::twelve();
  const auto few = listed_configurations(*package, 1, 3);
  const auto more = listed_configurations(*package, 1, 7);
  const auto all = listed_configurations(*package, 1, {});
  REQUIRE(few.ok());
  REQUIRE(more.ok());
  REQUIRE(all.ok());
  CHECK(few->front() == package->default_configuration());
  CHECK(std::equal(few->begin(), few->end(), more->begin()));
  CHECK(std::equal(more->begin(), more->end(), all->begin()));
  CHECK(all->size() == 12);
  const auto other = required(listed_configurations(*package, 2, 7));
  CHECK(other != *more);
}

TEST_CASE("a longer list begins with the shorter one where the space has no numbers, too") {
  const auto package = explore::test::unnumbered();
  std::size_t found = 0;  // lists in which more draws found more of the rare member
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    std::vector<Configuration> shorter;
    for (const std::uint64_t samples : {1, 2, 3, 6}) {
      CAPTURE(samples);
      const auto list = required(listed_configurations(*package, seed, samples));
      REQUIRE(list.size() > shorter.size());
      CHECK(std::equal(shorter.begin(), shorter.end(), list.begin()));
      found += list.back()[0] == 1 ? 1 : 0;
      shorter = list;
    }
  }
  CHECK(found > 0);
}

TEST_CASE("a part of the space has draws of its own") {
  const auto package = explore::test::twelve();
  const std::size_t parameter = *package->space().parameter_index("A");
  const std::int64_t rare = 4;
  const auto of_part = [&](const std::vector<Configuration>& list) {
    return std::count_if(list.begin(), list.end(), [&](const Configuration& configuration) {
      return configuration[parameter] == rare;
    });
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const auto whole = listed_configurations(*package, seed, 2);
    const auto both = listed_configurations(*package, seed, 2, {{{parameter, rare}}});
    REQUIRE(whole.ok());
    REQUIRE(both.ok());
    CHECK(of_part(*both) >= 2);
    CHECK(both->size() >= whole->size());
    for (const Configuration& configuration : *whole) {
      CHECK(std::count(both->begin(), both->end(), configuration) == 1);
    }
  }
  const std::int64_t nowhere = rare + 1;
  const auto none = required(listed_configurations(*package, 1, 2, {{{parameter, nowhere}}}));
  CHECK(none == *listed_configurations(*package, 1, 2));
}
