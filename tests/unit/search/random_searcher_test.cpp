#include <cmath>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "agent/search/random_searcher.hpp"

using namespace idletune;

namespace {

Space line(std::int64_t size) {
  const std::vector<std::string> names{"x"};
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < size; ++i) rows.push_back(10 * i);
  auto space = Space::from_rows(names, {}, {}, rows);
  REQUIRE(space.ok());
  return *space;
}

std::vector<std::int64_t> draw(Searcher& searcher, std::size_t count) {
  std::vector<std::int64_t> values;
  while (values.size() < count) {
    const auto proposal = searcher.ask();
    if (!proposal) break;
    CHECK(proposal->origin == ProposalOrigin::random);
    values.push_back(proposal->configuration[0]);
    searcher.tell(proposal->configuration, {});
  }
  return values;
}

SearcherOptions random_seeded(std::uint64_t seed) {
  SearcherOptions options;
  options.seed = seed;
  return options;
}

}  // namespace

TEST_CASE("random search visits every configuration exactly once and then ends") {
  for (const std::int64_t size : {1, 2, 7, 64, 1000}) {
    const Space space = line(size);
    RandomSearcher searcher(space, random_seeded(5));
    const auto values = draw(searcher, 5000);
    CHECK(values.size() == static_cast<std::size_t>(size));
    CHECK(std::set<std::int64_t>(values.begin(), values.end()).size() == values.size());
    CHECK_FALSE(searcher.ask().has_value());
  }
}

TEST_CASE("the same seed gives the same order and another seed another one") {
  const Space space = line(100);
  RandomSearcher a(space, random_seeded(1));
  RandomSearcher b(space, random_seeded(1));
  RandomSearcher c(space, random_seeded(2));
  const auto first = draw(a, 100);
  CHECK(first == draw(b, 100));
  CHECK(first != draw(c, 100));
}

TEST_CASE("what was excluded is never proposed") {
  const Space space = line(40);
  RandomSearcher searcher(space, random_seeded(3));
  std::set<std::int64_t> excluded;
  for (std::int64_t i = 0; i < 40; i += 3) {
    searcher.exclude(Configuration{10 * i});
    excluded.insert(10 * i);
  }
  searcher.exclude(Configuration{5});  // not in the space
  const auto values = draw(searcher, 100);
  CHECK(values.size() == 40 - excluded.size());
  for (const std::int64_t value : values) CHECK(excluded.count(value) == 0);
}

TEST_CASE("the first draw is uniform over the configurations") {
  const Space space = line(16);
  std::vector<int> counts(16, 0);
  constexpr int kSeeds = 8000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    RandomSearcher searcher(space, random_seeded(static_cast<std::uint64_t>(seed)));
    ++counts[static_cast<std::size_t>(searcher.ask()->configuration[0] / 10)];
  }
  double chi_square = 0;
  for (const int count : counts) chi_square += std::pow(count - kSeeds / 16.0, 2) / (kSeeds / 16.0);
  CHECK(chi_square < 37.7);  // 99.9 % point with 15 degrees of freedom; the seeds are fixed
}

TEST_CASE("searchers that begin at other places of one permutation share nothing until they meet") {
  const Space space = line(1000);
  std::set<std::int64_t> seen;
  for (const std::uint64_t start : {0, 300, 1600}) {  // 1600: modulo the length
    SearcherOptions options = random_seeded(9);
    options.random_start = start;
    RandomSearcher searcher(space, options);
    for (const std::int64_t value : draw(searcher, 300)) CHECK(seen.insert(value).second);
  }
  // The ring goes on at its beginning, and every one sees all of it.
  SearcherOptions options = random_seeded(9);
  options.random_start = 990;
  RandomSearcher whole(space, options);
  const auto all = draw(whole, 5000);
  CHECK(std::set<std::int64_t>(all.begin(), all.end()).size() == 1000);
  CHECK(all.size() == 1000);
}

TEST_CASE("what another start drew is told from what was chosen") {
  const Space space = line(1000);
  SearcherOptions options = random_seeded(9);
  options.random_start = 997;
  ProposedSet taken(space);
  RandomDraws draws(space, taken, options);
  RandomSearcher earlier(space, options);
  for (int i = 0; i < 8; ++i) {
    const Configuration drawn = earlier.ask()->configuration;
    CHECK(draws.recall(drawn));
  }
  CHECK_FALSE(draws.recall(Configuration{5}));  // not in the space
}

TEST_CASE("an earlier searcher's draws are recognised though many could not be launched") {
  const Space space = line(2000);
  // Two of five cannot: nobody measured them.
  const auto possible = [](const Configuration& drawn) { return (drawn[0] / 10 * 7) % 5 >= 2; };
  for (const std::uint64_t seed : {1, 9, 33}) {
    RandomSearcher earlier(space, random_seeded(seed));
    ProposedSet taken(space);
    RandomDraws draws(space, taken, random_seeded(seed));
    std::set<std::int64_t> passed_over;
    for (int i = 0; i < 300; ++i) {
      const Configuration drawn = earlier.ask()->configuration;
      if (!possible(drawn)) {
        passed_over.insert(drawn[0]);
        continue;
      }
      CHECK(draws.recall(drawn));
      taken.add(drawn);
    }
    // They are drawn again: who passed over them may have had another reason.
    for (int i = 0; i < 300; ++i) {
      const Configuration next = *draws.next();
      CHECK_FALSE(taken.has(next));
      taken.add(next);
      passed_over.erase(next[0]);
    }
    CHECK(passed_over.empty());
  }
}

TEST_CASE("draws that are recalled in another order are recognised all the same") {
  const Space space = line(1000);
  RandomSearcher earlier(space, random_seeded(4));
  std::vector<Configuration> drawn;
  for (int i = 0; i < 40; ++i) drawn.push_back(earlier.ask()->configuration);
  ProposedSet taken(space);
  RandomDraws draws(space, taken, random_seeded(4));
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const Configuration& next = drawn[i ^ 1u];
    CHECK(draws.recall(next));
    taken.add(next);
  }
}
