#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "agent/host/lab/genetic_searcher.hpp"
#include "agent/search/random_searcher.hpp"
#include "tests/unit/search/search_spaces.hpp"

using namespace idletune;
using idletune::test::cube;
using idletune::test::evaluations_to;
using idletune::test::even_cube;

namespace {

Observation genetic_took(double ns) {
  Observation seen;
  seen.run_time = Nanoseconds(std::llround(ns));
  return seen;
}

Observation bowl(const Configuration& c) {
  double ns = 1000;
  for (std::size_t p = 0; p < c.size(); ++p) ns += 100 * std::abs(static_cast<double>(c[p]) - 3);
  return genetic_took(ns);
}

SearcherOptions genetic_seeded(std::uint64_t seed) {
  SearcherOptions options;
  options.seed = seed;
  return options;
}

}  // namespace

TEST_CASE("a genetic search proposes every configuration once, none excluded, and then ends") {
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{2}, std::int64_t{6}}) {
    CAPTURE(size);
    const Space space = cube(size, 3);
    GeneticSearcher searcher(space, genetic_seeded(2));
    const Configuration excluded{0, 0, 0};
    searcher.exclude(excluded);
    std::set<std::uint64_t> seen;
    while (const auto proposal = searcher.ask()) {
      REQUIRE(proposal->configuration != excluded);
      REQUIRE(seen.insert(*space.index_of(proposal->configuration)).second);
      Observation result = bowl(proposal->configuration);
      if (seen.size() % 5 == 0) result.status = TrialStatus::runtime;
      searcher.tell(proposal->configuration, result);
    }
    CHECK(seen.size() == space.valid_count() - 1);
  }
}

TEST_CASE("children take each gene from one of two parents, but for mutations of one gene") {
  const Space space = cube(30, 4);
  GeneticSearcher searcher(space, genetic_seeded(5));
  std::vector<Configuration> first;
  for (std::size_t i = 0; i < GeneticSearcher::kPopulation; ++i) {
    const auto proposal = searcher.ask();
    REQUIRE(proposal.has_value());
    CHECK(proposal->origin == ProposalOrigin::random);
    first.push_back(proposal->configuration);
    searcher.tell(proposal->configuration, bowl(proposal->configuration));
  }
  const auto child = searcher.ask();
  REQUIRE(child.has_value());
  CHECK(child->origin == ProposalOrigin::learned);
  REQUIRE(searcher.population().size() == GeneticSearcher::kPopulation);
  int mutants = 0;
  for (const Configuration& each : searcher.population()) {
    REQUIRE(space.contains(each));
    // The fewest genes that no couple explains.
    std::size_t unexplained = each.size();
    for (const Configuration& mother : first) {
      for (const Configuration& father : first) {
        std::size_t foreign = 0;
        for (std::size_t p = 0; p < each.size(); ++p) {
          foreign += each[p] != mother[p] && each[p] != father[p] ? 1 : 0;
        }
        unexplained = std::min(unexplained, foreign);
      }
    }
    CHECK(unexplained <= 1);
    mutants += unexplained == 1 ? 1 : 0;
  }
  CHECK(mutants <= 8);  // 1.5 expected of 30
}

TEST_CASE("generations improve") {
  const Space space = cube(10, 5);
  int better = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    GeneticSearcher searcher(space, genetic_seeded(seed));
    double first = 0, later = 0;
    for (std::size_t i = 0; i < 10 * GeneticSearcher::kPopulation; ++i) {
      const auto proposal = searcher.ask();
      REQUIRE(proposal.has_value());
      const Observation seen = bowl(proposal->configuration);
      const double ns = static_cast<double>(seen.run_time.count());
      if (i < GeneticSearcher::kPopulation) first += ns;
      if (i >= 9 * GeneticSearcher::kPopulation) later += ns;
      searcher.tell(proposal->configuration, seen);
    }
    better += later < 0.85 * first ? 1 : 0;
  }
  CHECK(better == 20);
}

TEST_CASE("children and mutants obey the constraints, and the valid ones run out") {
  const Space space = even_cube(8);
  REQUIRE(space.valid_count() == 256);
  GeneticSearcher searcher(space, genetic_seeded(3));
  std::size_t proposed = 0, learned = 0;
  while (const auto proposal = searcher.ask()) {
    const Configuration& c = proposal->configuration;
    REQUIRE((c[0] + c[1] + c[2]) % 2 == 0);
    ++proposed;
    learned += proposal->origin == ProposalOrigin::learned ? 1 : 0;
    searcher.tell(c, bowl(c));
  }
  CHECK(proposed == 256);
  CHECK(learned > 100);
}

TEST_CASE("the bottom of a bowl is found far earlier than by random draws") {
  const Space space = cube(10, 4);
  const Configuration best{3, 3, 3, 3};
  std::vector<std::size_t> genetic, random;
  for (std::uint64_t seed = 1; seed <= 41; ++seed) {
    GeneticSearcher searcher(space, genetic_seeded(seed));
    genetic.push_back(evaluations_to(best, searcher, bowl));
    RandomSearcher drawing(space, genetic_seeded(seed));
    random.push_back(evaluations_to(best, drawing, bowl));
  }
  std::sort(genetic.begin(), genetic.end());
  std::sort(random.begin(), random.end());
  MESSAGE("of 10,000: median " << genetic[20] << ", random " << random[20]);
  CHECK(genetic[20] * 8 < random[20]);
  CHECK(genetic[37] * 2 < random[20]);
}

TEST_CASE("the same seed gives the same genetic search, and late results do no harm") {
  const Space space = cube(8, 3);
  std::vector<std::uint64_t> orders[3];
  const std::uint64_t seeds[] = {4, 4, 9};
  for (int run = 0; run < 3; ++run) {
    GeneticSearcher searcher(space, genetic_seeded(seeds[run]));
    std::vector<Configuration> waiting;
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 200; ++i) {
      const auto proposal = searcher.ask();
      REQUIRE(proposal.has_value());
      orders[run].push_back(*space.index_of(proposal->configuration));
      REQUIRE(seen.insert(orders[run].back()).second);
      waiting.push_back(proposal->configuration);
      if (waiting.size() < 7) continue;
      for (const Configuration& each : waiting) searcher.tell(each, bowl(each));
      waiting.clear();
    }
  }
  CHECK(orders[0] == orders[1]);
  CHECK(orders[0] != orders[2]);
}
