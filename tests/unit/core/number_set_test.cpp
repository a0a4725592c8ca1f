#include "models/core/number_set.hpp"

#include <doctest/doctest.h>

#include <set>

#include "models/core/random.hpp"

using idletune::NumberSet;
using idletune::Random;

TEST_CASE("an empty set has nothing") {
  const NumberSet set;
  CHECK(set.size() == 0);
  CHECK_FALSE(set.has(0));
  CHECK_FALSE(set.has(7));
}

TEST_CASE("the smallest and the largest number are numbers like others") {
  NumberSet set;
  for (const std::uint64_t number : {std::uint64_t{0}, UINT64_MAX}) {
    CHECK(set.insert(number));
    CHECK_FALSE(set.insert(number));
    CHECK(set.has(number));
  }
  CHECK(set.size() == 2);
  CHECK_FALSE(set.has(1));
}

TEST_CASE("a set agrees with the standard library's, whatever is drawn") {
  Random random(1);
  // Few different numbers, all of them, and such as differ in their upper bits only.
  for (const unsigned shift : {56u, 0u, 40u}) {
    NumberSet set;
    std::set<std::uint64_t> truth;
    for (int i = 0; i < 5000; ++i) {
      const std::uint64_t number = random.next() >> shift << (shift == 40 ? 40 : 0);
      CHECK(set.insert(number) == truth.insert(number).second);
      const std::uint64_t asked = random.next() >> shift;
      CHECK(set.has(asked) == (truth.count(asked) != 0));
    }
    CHECK(set.size() == truth.size());
  }
}
