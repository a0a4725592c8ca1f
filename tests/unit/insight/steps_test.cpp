#include <cmath>

#include <doctest/doctest.h>

#include "models/host/insight/steps.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

TEST_CASE("five percent good ones and 95 percent certainty take 59 steps") {
  // The example of Olha et al. 2020, section 3: log(0.05) / log(0.95) = 58.4.
  CHECK(random_search_steps(0.05, 0.95) == 59);
  CHECK(random_search_steps(0.3, 0.51) == 2);  // 1 - 0.7^2; rounding adds no step
}

TEST_CASE("the steps are the smallest number that gives the probability") {
  for (const double p_b : {0.5, 0.1, 0.013, 1e-4}) {
    for (const double p_s : {0.5, 0.9, 0.99}) {
      const auto n = required(random_search_steps(p_b, p_s));
      CHECK(1 - std::pow(1 - p_b, static_cast<double>(n)) >= p_s - 1e-12);
      CHECK(1 - std::pow(1 - p_b, static_cast<double>(n) - 1) < p_s);
    }
  }
}

TEST_CASE("nothing good is never found and everything good at once") {
  CHECK_FALSE(random_search_steps(0, 0.9).has_value());
  CHECK_FALSE(random_search_steps(-1, 0.9).has_value());
  CHECK_FALSE(random_search_steps(std::nan(""), 0.9).has_value());
  CHECK(random_search_steps(1, 0.9) == 1);
  CHECK_FALSE(random_search_steps_without_repetition(10, 0, 0.9).has_value());
  CHECK(random_search_steps_without_repetition(10, 10, 0.9) == 1);
}

TEST_CASE("drawing without repetition takes at most as long, and ends") {
  CHECK(random_search_steps_without_repetition(100, 1, 0.95) == 95);
  CHECK(random_search_steps(0.01, 0.95) == 299);
  CHECK(random_search_steps_without_repetition(2, 1, 0.999) == 2);
  // Reached exactly, whatever the product is rounded to.
  CHECK(random_search_steps_without_repetition(24, 1, 0.5) == 12);
  CHECK(random_search_steps_without_repetition(30, 1, 0.9) == 27);
  for (std::uint64_t good = 1; good <= 50; ++good) {
    const auto without = random_search_steps_without_repetition(50, good, 0.9);
    const auto with = random_search_steps(static_cast<double>(good) / 50, 0.9);
    CHECK(*without <= *with);
    CHECK(*without <= 51 - good);
  }
}

TEST_CASE("huge spaces do not take huge loops") {
  const auto steps =
      required(random_search_steps_without_repetition(std::uint64_t{1} << 60, 1, 0.5));
  CHECK(steps > std::uint64_t{1} << 59);
}
