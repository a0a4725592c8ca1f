#include "models/core/random.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace idletune;

TEST_CASE("the stream is SplitMix64's") {
  Random random(1234567);  // the reference implementation's published example
  CHECK(random.next() == 6457827717110365317ull);
  CHECK(random.next() == 3203168211198807973ull);
  CHECK(random.next() == 9817491932198370423ull);
  CHECK(random.next() == 4593380528125082431ull);
  CHECK(random.next() == 16408922859458223821ull);
}

TEST_CASE("below stays below and hits every value equally often") {
  // 60000 draws into 6 bins: a chi-square of 5 degrees of freedom exceeds 25.7 once in 10^4.
  Random random(7);
  std::vector<int> bins(6, 0);
  for (int i = 0; i < 60000; ++i) {
    const std::uint64_t value = random.below(6);
    REQUIRE(value < 6);
    ++bins[static_cast<std::size_t>(value)];
  }
  double chi_square = 0;
  for (int count : bins) chi_square += (count - 10000.0) * (count - 10000.0) / 10000.0;
  CHECK(chi_square < 25.7);
  CHECK(random.below(1) == 0);
}

TEST_CASE("below has no bias for bounds that do not divide 2^64") {
  // Of 2^64 mod (3 * 2^62) = 2^62 surplus values a plain remainder would give the lowest third
  // twice its share (1/2 instead of 1/3). 30000 draws: standard deviation 0.0027.
  Random random(11);
  const std::uint64_t bound = 3ull << 62;
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += random.below(bound) < (1ull << 62);
  CHECK(std::abs(low / 30000.0 - 1.0 / 3.0) < 0.014);
}

TEST_CASE("uniform stays in [0, 1) with mean one half") {
  Random random(3);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double value = random.uniform();
    REQUIRE(value >= 0);
    REQUIRE(value < 1);
    sum += value;
  }
  CHECK(std::abs(sum / 100000 - 0.5) < 0.005);  // five standard deviations
}

TEST_CASE("a permutation visits every position once, whatever the size") {
  for (std::uint64_t size : {1u, 2u, 3u, 4u, 5u, 15u, 16u, 17u, 63u, 64u, 65u, 1000u, 17956u}) {
    const Permutation permutation(size, 99);
    REQUIRE(permutation.size() == size);
    std::vector<bool> seen(static_cast<std::size_t>(size), false);
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t image = permutation(i);
      REQUIRE(image < size);
      REQUIRE_FALSE(seen[static_cast<std::size_t>(image)]);
      seen[static_cast<std::size_t>(image)] = true;
    }
  }
}

TEST_CASE("a permutation depends on its seed and works for sizes beyond 32 bits") {
  const Permutation a(1u << 20, 1), b(1u << 20, 2), again(1u << 20, 1);
  int same = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    same += a(i) == b(i);
    CHECK(a(i) == again(i));
  }
  CHECK(same < 10);
  const std::uint64_t size = 10'000'000'019ull;
  const Permutation large(size, 5);
  for (std::uint64_t i = 0; i < 1000; ++i) CHECK(large(i * 9999991) < size);
}

TEST_CASE("the first positions of a permutation are spread uniformly") {
  // 100 bins, 10000 of a million positions: chi-square with 99 degrees of freedom, below 161 except
  // once in 10^4.
  const Permutation permutation(1000000, 42);
  std::vector<int> bins(100, 0);
  for (std::uint64_t i = 0; i < 10000; ++i) {
    ++bins[static_cast<std::size_t>(permutation(i) / 10000)];
  }
  double chi_square = 0;
  for (int count : bins) chi_square += (count - 100.0) * (count - 100.0) / 100.0;
  CHECK(chi_square < 161);
}
