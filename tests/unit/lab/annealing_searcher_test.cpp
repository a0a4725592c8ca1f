#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "agent/host/lab/annealing_searcher.hpp"
#include "models/space/product_space.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/search/search_spaces.hpp"

using namespace idletune;
using idletune::test::even_cube;

namespace {

Observation took_ms(double ms) {
  Observation seen;
  seen.run_time = Nanoseconds(std::llround(ms * 1e6));
  return seen;
}

Observation failed() {
  Observation seen;
  seen.status = TrialStatus::runtime;
  return seen;
}

SearcherOptions seeded(std::uint64_t seed) {
  SearcherOptions options;
  options.seed = seed;
  return options;
}

std::size_t differences(const Configuration& a, const Configuration& b) {
  std::size_t count = 0;
  for (std::size_t p = 0; p < a.size(); ++p) count += a[p] != b[p] ? 1 : 0;
  return count;
}

double bowl_ms(const Configuration& c) {
  return 1 + static_cast<double>(std::abs(c[0] - 3) + std::abs(c[1] - 5) + std::abs(c[2] - 2));
}

}  // namespace

TEST_CASE("neighbours are valid, differ in one to three parameters, and are uniform") {
  const std::vector<std::string> names{"a", "b", "c", "d", "e"};
  const std::vector<std::vector<std::int64_t>> values{{1, 2, 3}, {1, 2}, {7}, {1, 2, 3, 4}, {0, 1}};
  const auto space = required(product_space(names, values));
  const Neighbours neighbours(space);
  const Configuration around{2, 1, 7, 3, 0};
  // Changing up to three of the four that can change: 2, 1, 3, 1 other values each.
  const std::size_t expected = (2 + 1 + 3 + 1) + (2 + 6 + 2 + 3 + 1 + 3) + (6 + 2 + 6 + 3);
  Random random(3);
  std::map<std::string, int> counts;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const auto drawn = required(neighbours.draw(around, random));
    REQUIRE(space.contains(drawn));
    REQUIRE(differences(around, drawn) >= 1);
    REQUIRE(differences(around, drawn) <= 3);
    ++counts[to_text(space, drawn)];
  }
  REQUIRE(counts.size() == expected);
  double chi_square = 0;
  const double mean = static_cast<double>(kDraws) / static_cast<double>(expected);
  for (const auto& [text, count] : counts) chi_square += std::pow(count - mean, 2) / mean;
  CHECK(chi_square < 75);  // 40 degrees of freedom: 99.9 % point 73.4; the seed is fixed
}

TEST_CASE("neighbours keep to the constraints") {
  const Space space = even_cube(6);
  const Neighbours neighbours(space);
  Random random(1);
  std::set<std::uint64_t> seen;
  const Configuration around{1, 2, 3};
  for (int i = 0; i < 20000; ++i) {
    const auto drawn = required(neighbours.draw(around, random));
    seen.insert(*space.index_of(drawn));
  }
  CHECK(seen.size() == space.valid_count() - 1);  // all others are within three parameters
}

TEST_CASE("where nothing else is valid there is no neighbour") {
  const std::vector<std::string> names{"x", "y", "z", "w"};
  const std::vector<std::int64_t> rows{0, 0, 0, 0, 1, 1, 1, 1};
  const auto space = required(Space::from_rows(names, {}, {}, rows));
  Random random(1);
  CHECK_FALSE(Neighbours(space).draw(Configuration{0, 0, 0, 0}, random).has_value());
  AnnealingSearcher searcher(space, seeded(1));
  for (int i = 0; i < 2; ++i) {
    const auto proposal = required(searcher.ask());
    searcher.tell(proposal.configuration, took_ms(1));
  }
  CHECK_FALSE(searcher.ask().has_value());
}

TEST_CASE("annealing proposes every configuration once, none that was excluded, and then ends") {
  const Space space = even_cube(5);
  AnnealingSearcher searcher(space, seeded(4));
  const Configuration excluded{0, 0, 0};
  searcher.exclude(excluded);
  std::set<std::uint64_t> seen;
  int neighbours = 0;
  while (const auto proposal = searcher.ask()) {
    CHECK(proposal->configuration != excluded);
    CHECK(seen.insert(*space.index_of(proposal->configuration)).second);
    neighbours += proposal->origin == ProposalOrigin::learned ? 1 : 0;
    searcher.tell(proposal->configuration,
                  seen.size() % 7 == 0 ? failed() : took_ms(bowl_ms(proposal->configuration)));
  }
  CHECK(seen.size() == space.valid_count() - 1);
  CHECK(neighbours > 30);
}

TEST_CASE("the same seed gives the same search") {
  const Space space = even_cube(8);
  std::vector<std::string> orders[3];
  for (std::size_t i = 0; i < 3; ++i) {
    AnnealingSearcher searcher(space, seeded(i < 2 ? 1 : 2));
    for (int step = 0; step < 60; ++step) {
      const auto proposal = required(searcher.ask());
      orders[i].push_back(to_text(space, proposal.configuration));
      searcher.tell(proposal.configuration, took_ms(bowl_ms(proposal.configuration)));
    }
  }
  CHECK(orders[0] == orders[1]);
  CHECK(orders[0] != orders[2]);
}

TEST_CASE("the temperature falls from four milliseconds to none as the space is used up") {
  const Space space = even_cube(4);
  AnnealingSearcher searcher(space, seeded(1));
  CHECK(searcher.temperature_ms() == 4);
  const std::uint64_t half = space.valid_count() / 2;
  for (std::uint64_t i = 0; i < half; ++i) searcher.tell(searcher.ask()->configuration, took_ms(1));
  CHECK(searcher.temperature_ms() == doctest::Approx(2));
  for (std::uint64_t i = half; i < space.valid_count(); ++i)
    searcher.tell(searcher.ask()->configuration, took_ms(1));
  CHECK(searcher.temperature_ms() == 0);
}

TEST_CASE("on a smooth valley whose heights dwarf the temperature, annealing beats random search") {
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
  const std::vector<std::vector<std::int64_t>> values(6, {0, 1, 2, 3});
  const auto space = required(product_space(names, values));
  const auto height = [](const Configuration& c) {
    double sum = 0;
    for (const std::int64_t value : c.values()) sum += std::abs(static_cast<double>(value) - 1);
    return sum;
  };
  double annealing = 0;
  double random = 0;
  constexpr int kSeeds = 60;
  for (int seed = 0; seed < kSeeds; ++seed) {
    AnnealingSearcher guided(space, seeded(static_cast<std::uint64_t>(seed)));
    RandomSearcher drawn(space, seeded(static_cast<std::uint64_t>(seed)));
    for (Searcher* searcher : {static_cast<Searcher*>(&guided), static_cast<Searcher*>(&drawn)}) {
      for (int steps = 1;; ++steps) {
        const auto proposal = required(searcher->ask());
        if (height(proposal.configuration) == 0) {
          (searcher == &guided ? annealing : random) += steps;
          break;
        }
        searcher->tell(proposal.configuration, took_ms(100 * height(proposal.configuration) + 100));
      }
    }
  }
  CAPTURE(annealing);
  CAPTURE(random);
  CHECK(annealing < 0.3 * random);
}

TEST_CASE("asking again without telling gives something else") {
  const Space space = even_cube(4);
  AnnealingSearcher searcher(space, seeded(2));
  const auto first = searcher.ask();
  const auto second = searcher.ask();
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(first->configuration != second->configuration);
}
