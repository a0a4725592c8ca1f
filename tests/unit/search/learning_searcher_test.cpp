#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <idletune/learning.hpp>

#include "agent/search/forest_proposals.hpp"
#include "agent/search/learning_searcher.hpp"
#include "models/space/product_space.hpp"
#include "tests/unit/repeats.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/search/search_spaces.hpp"

using namespace idletune;
using idletune::test::cube;
using idletune::test::evaluations_to;

namespace {

std::vector<std::int64_t> count_up(std::int64_t size) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < size; ++i) values.push_back(i);
  return values;
}

Observation took_us(double us) {
  Observation seen;
  seen.run_time = Nanoseconds(std::llround(us * 1e3));
  return seen;
}

Observation failed() {
  Observation seen;
  seen.status = TrialStatus::compile;
  return seen;
}

// Best at 2, 3, 4, ...: each parameter off by one costs a tenth; those with p0 > 8 fail.
Observation bowl(const Configuration& c) {
  if (c[0] > 8) return failed();
  double us = 100;
  for (std::size_t p = 0; p < c.size(); ++p) {
    us *= std::pow(1.1, std::abs(static_cast<double>(c[p]) - static_cast<double>(p + 2)));
  }
  return took_us(us);
}

ForestProposalOptions seeded(std::uint64_t seed) {
  ForestProposalOptions options;
  options.seed = seed;
  return options;
}

SearcherOptions searching(std::uint64_t seed) {
  SearcherOptions options;
  options.seed = seed;
  options.learner = forest_learner();
  return options;
}

}  // namespace

TEST_CASE("nothing is proposed before two measurements ran") {
  const Space space = cube(4, 2);
  ForestProposals proposals(space, seeded(1));
  CHECK_FALSE(proposals.propose().has_value());
  proposals.tell({0, 0}, took_us(5));
  proposals.tell({1, 0}, failed());
  CHECK_FALSE(proposals.propose().has_value());
  proposals.tell({9, 9}, took_us(1));  // is not in the space
  CHECK_FALSE(proposals.propose().has_value());
  proposals.tell({2, 0}, took_us(4));
  CHECK(proposals.propose().has_value());
}

TEST_CASE("each configuration is proposed once, none that was told or excluded, and then none") {
  // One that is followed as a whole, one that is too large for that, made small by exclusion.
  for (const std::int64_t size : {std::int64_t{5}, std::int64_t{28}}) {
    CAPTURE(size);
    const Space space = cube(size, 3);
    REQUIRE((space.valid_count() > ForestProposals::kMaxFollowed) == (size == 28));
    ForestProposals proposals(space, seeded(3));
    std::set<std::uint64_t> seen;
    Random random(2);
    std::uint64_t left = 0;
    for (std::uint64_t i = 0; i < space.valid_count(); ++i) {
      if (size == 28 && i >= 300) {
        proposals.exclude(space.at(i));
        seen.insert(i);
      } else {
        ++left;
      }
    }
    for (const std::uint64_t i : {0u, 1u, 2u}) {
      proposals.tell(space.at(i), took_us(static_cast<double>(5 + i)));
      seen.insert(i);
      --left;
    }
    std::uint64_t proposed = 0;
    while (const auto next = proposals.propose()) {
      ++proposed;
      REQUIRE(space.index_of(*next).has_value());
      REQUIRE(seen.insert(*space.index_of(*next)).second);
      if (random.below(3) > 0) proposals.tell(*next, bowl(*next));
    }
    // What is sampled may miss the last few among so many that are taken; the searcher's draws get
    // those.
    if (size == 5) CHECK(proposed == left);
    CHECK(proposed > 0);
  }
}

TEST_CASE("proposals are those with the best bound: the bottom of a bowl is found soon" *
          doctest::skip(test::fewer_repeats())) {
  for (const std::int64_t size : {std::int64_t{12}, std::int64_t{30}}) {
    CAPTURE(size);  // 1,728 configurations, followed; 27,000, sampled
    const Space space = cube(size, 3);
    const Configuration best{2, 3, 4};
    std::vector<std::size_t> forest, random;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      LearningSearcher searcher(space, searching(seed));
      forest.push_back(evaluations_to(best, searcher, bowl));
      RandomSearcher drawing(space, searching(seed));
      random.push_back(evaluations_to(best, drawing, bowl));
    }
    std::sort(forest.begin(), forest.end());
    std::sort(random.begin(), random.end());
    const std::size_t middle = forest.size() / 2;
    MESSAGE("to the very best: median " << forest[middle] << ", random " << random[middle]);
    CHECK(forest[middle] * 8 < random[middle]);
  }
}

TEST_CASE("a right prior is followed at once, a wrong one is corrected by what is measured") {
  const Space space = cube(12, 3);
  const auto evaluations = [&](float sign) {
    std::vector<std::size_t> all;
    for (std::uint64_t seed = 1; seed <= test::repeats(10); ++seed) {
      ForestProposalOptions options = seeded(seed);
      options.prior = [sign](const Configuration& c) -> std::optional<float> {
        if (c[2] == 11) return std::nullopt;
        Observation seen = bowl({std::min<std::int64_t>(c[0], 8), c[1], c[2]});
        return sign * std::log(static_cast<float>(seen.run_time.count())) + 50;
      };
      ForestProposals proposals(space, options);
      Random random(seed);
      std::size_t count = 0;
      for (int i = 0; i < 3; ++i, ++count) {
        const Configuration drawn = space.at(random.below(space.valid_count()));
        proposals.tell(drawn, bowl(drawn));
      }
      for (;;) {
        const auto next = proposals.propose();
        ++count;
        if (!next) break;
        if (*next == Configuration{2, 3, 4}) break;
        proposals.tell(*next, bowl(*next));
      }
      all.push_back(count);
    }
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  };
  CHECK(evaluations(1) <= 6);
  CHECK(evaluations(-1) < 400);  // random draws: 864 in the median
}

TEST_CASE("a forest that forgets its prior proposes as one without") {
  // A space that is followed as a whole, and one that is not.
  for (const std::int64_t side : {12, 40}) {
    const Space space = cube(side, 3);
    ForestProposalOptions misled = seeded(5);
    misled.prior = [](const Configuration& c) {
      return std::optional<float>(static_cast<float>(c[0]));
    };
    ForestProposals forgetful(space, misled);
    ForestProposals plain(space, seeded(5));
    Random random(5);
    for (int i = 0; i < 20; ++i) {
      const Configuration drawn = space.at(random.below(space.valid_count()));
      forgetful.tell(drawn, bowl(drawn));
      plain.tell(drawn, bowl(drawn));
    }
    forgetful.forget_prior();
    for (int i = 0; i < 10; ++i) {
      const auto proposed = forgetful.propose();
      const auto expected = plain.propose();
      REQUIRE(proposed.has_value());
      CHECK(*proposed == *expected);
      forgetful.tell(*proposed, bowl(*proposed));
      plain.tell(*expected, bowl(*expected));
    }
  }
}

TEST_CASE("in a space of a billion, single parameters of the best are changed, too") {
  const Space space = cube(8, 10);
  ForestProposals proposals(space, seeded(1));
  Random random(1);
  Configuration best;
  double least = 1e9;
  int single = 0;
  for (int i = 0; i < 100; ++i) {
    const auto learned = i < 20 ? std::nullopt : proposals.propose();
    const Configuration next = learned ? *learned : space.at(random.below(space.valid_count()));
    std::size_t changed = 0;
    double us = 10;
    for (std::size_t p = 0; p < next.size(); ++p) {
      changed += learned && next[p] != best[p] ? 1 : 0;
      us *= std::pow(1.1, std::abs(static_cast<double>(next[p]) - 4));
    }
    single += changed == 1 ? 1 : 0;
    proposals.tell(next, took_us(us));
    if (us < least) best = next;
    least = std::min(least, us);
  }
  CHECK(single >= 10);  // of 80; 1 in 620 of all changes of up to three is one of a single
}

TEST_CASE("failures are learned: a half that always fails is left alone") {
  const Space space = cube(12, 3);  // a quarter of it fails
  LearningSearcher searcher(space, searching(5));
  int failures = 0, learned = 0;
  for (int i = 0; i < 120; ++i) {
    const auto proposal = required(searcher.ask());
    const Observation seen = bowl(proposal.configuration);
    if (proposal.origin == ProposalOrigin::learned) {
      ++learned;
      failures += seen.status != TrialStatus::correct ? 1 : 0;
    }
    searcher.tell(proposal.configuration, seen);
  }
  CHECK(learned > 80);
  CHECK(failures * 20 < learned);
}

TEST_CASE("a forest search draws first, and every sixth proposal") {
  const Space space = cube(12, 3);
  LearningSearcher searcher(space, searching(2));
  for (std::uint64_t i = 1; i <= 60; ++i) {
    const auto proposal = required(searcher.ask());
    const bool random = i <= LearningSearcher::kInitial || i % 6 == 0;
    CHECK(proposal.origin == (random ? ProposalOrigin::random : ProposalOrigin::learned));
    searcher.tell(proposal.configuration, bowl(proposal.configuration));
  }
}

TEST_CASE("draws that could not be launched are none of a forest search's first ones") {
  const Space space = cube(10, 3);
  LearningSearcher searcher(space, searching(3));
  Observation impossible;
  impossible.status = TrialStatus::constraints;
  for (int i = 0; i < 12; ++i) {
    const auto proposal = required(searcher.ask());
    CHECK(proposal.origin == ProposalOrigin::random);
    searcher.tell(proposal.configuration, i < 6 ? impossible : bowl(proposal.configuration));
  }
  CHECK(required(searcher.ask()).origin == ProposalOrigin::learned);
}

TEST_CASE("a forest search proposes all of a space once, also when results come late") {
  const Space space = cube(6, 3);
  LearningSearcher searcher(space, searching(7));
  searcher.exclude({1, 1, 1});
  std::set<std::uint64_t> seen;
  std::vector<Configuration> waiting;
  while (const auto proposal = searcher.ask()) {
    REQUIRE(proposal->configuration != Configuration{1, 1, 1});
    REQUIRE(seen.insert(*space.index_of(proposal->configuration)).second);
    waiting.push_back(proposal->configuration);
    if (waiting.size() < 5) continue;
    for (const Configuration& each : waiting) searcher.tell(each, bowl(each));
    waiting.clear();
  }
  CHECK(seen.size() == space.valid_count() - 1);
}

TEST_CASE("the same seed gives the same forest search, another seed another one") {
  for (const std::int64_t size : {std::int64_t{12}, std::int64_t{30}}) {
    const Space space = cube(size, 3);
    std::vector<std::uint64_t> orders[3];
    const std::uint64_t seeds[] = {6, 6, 8};
    for (int run = 0; run < 3; ++run) {
      LearningSearcher searcher(space, searching(seeds[run]));
      for (int i = 0; i < 60; ++i) {
        const auto proposal = required(searcher.ask());
        orders[run].push_back(*space.index_of(proposal.configuration));
        searcher.tell(proposal.configuration, bowl(proposal.configuration));
      }
    }
    CHECK(orders[0] == orders[1]);
    CHECK(orders[0] != orders[2]);
  }
}

TEST_CASE("memory stays within 512 KiB for 20,000 configurations and however many measurements") {
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> values;
  for (const std::int64_t size : {10, 8, 5, 5, 2, 5}) {
    names.push_back("p" + std::to_string(names.size()));
    values.push_back(count_up(size));
  }
  const auto space = product_space(names, values);
  REQUIRE(space.ok());
  REQUIRE(space->valid_count() == 20000);
  ForestProposalOptions options = seeded(1);
  options.prior = [](const Configuration& c) { return static_cast<float>(c[0]); };
  ForestProposals proposals(*space, options);
  Random random(1);
  std::size_t most = 0;
  for (int i = 0; i < 2000; ++i) {
    const Configuration drawn = space->at(random.below(20000));
    proposals.tell(drawn, bowl(drawn));
    if (i % 100 == 50) REQUIRE(proposals.propose().has_value());
    most = std::max(most, proposals.bytes());
  }
  CHECK(most < 512 * 1024);
  CHECK(most > 64 * 1024);
}

TEST_CASE("memory stays within 512 KiB however wide the space is") {
  const std::pair<std::size_t, std::uint64_t> widths[] = {{4, 16}, {14, 4}, {32, 8}, {32, 1024}};
  for (const auto& [parameters, levels] : widths) {
    Random random(1);
    std::vector<std::string> names;
    std::vector<std::int64_t> rows;
    for (std::size_t p = 0; p < parameters; ++p) names.push_back("p" + std::to_string(p));
    for (std::uint64_t row = 0; row < 20480; ++row) {
      std::uint64_t left = row;  // no two are alike
      for (std::size_t p = 0; p < parameters; ++p, left /= levels)
        rows.push_back(static_cast<std::int64_t>((p < 8 ? left : random.next()) % levels));
    }
    CAPTURE(parameters);
    CAPTURE(levels);
    const std::vector<std::vector<std::int64_t>> values(
        parameters, count_up(static_cast<std::int64_t>(levels)));
    const Space space = required(Space::from_rows(names, {}, values, rows));
    ForestProposalOptions options = seeded(1);
    options.prior = [](const Configuration& c) { return static_cast<float>(c[0]); };
    ForestProposals proposals(space, options);
    std::size_t most = 0;
    for (int i = 0; i < 600; ++i) {
      const Configuration drawn = space.at(random.below(20480));
      proposals.tell(drawn, took_us(100 + static_cast<double>(drawn[0] * drawn[1])));
      if (i % 100 == 50) REQUIRE(proposals.propose().has_value());
      most = std::max(most, proposals.bytes());
    }
    CHECK(most < 512 * 1024);
  }
}

TEST_CASE("a space of one configuration is drawn and then exhausted") {
  const Space space = cube(1, 2);
  LearningSearcher searcher(space, searching(1));
  const auto proposal = required(searcher.ask());
  searcher.tell(proposal.configuration, took_us(1));
  CHECK_FALSE(searcher.ask().has_value());
  CHECK_FALSE(LearningSearcher(Space(), searching(1)).ask().has_value());
}

TEST_CASE("a later forest searcher recalls what was drawn, and proposes nothing again") {
  const Space space = cube(10, 3);
  LearningSearcher first(space, searching(5));
  LearningSearcher second(space, searching(5));
  std::set<std::uint64_t> seen;
  std::size_t mistaken = 0;
  for (int i = 0; i < 120; ++i) {
    const auto proposal = required(first.ask());
    seen.insert(space.key(proposal.configuration));
    first.tell(proposal.configuration, bowl(proposal.configuration));
    const ProposalOrigin origin = second.recall(proposal.configuration, std::nullopt);
    if (proposal.origin == ProposalOrigin::random) CHECK(origin == ProposalOrigin::random);
    if (origin != proposal.origin) ++mistaken;
    second.tell(proposal.configuration, bowl(proposal.configuration));
  }
  CHECK(mistaken <= 4);
  for (int i = 0; i < 120; ++i) {
    const auto proposal = required(second.ask());
    CHECK(seen.insert(space.key(proposal.configuration)).second);
    second.tell(proposal.configuration, bowl(proposal.configuration));
  }
}
