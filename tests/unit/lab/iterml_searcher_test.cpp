#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "agent/host/lab/iterml_searcher.hpp"
#include "agent/host/lab/learners/learners.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/search/search_spaces.hpp"

using namespace idletune;
using idletune::test::line;

namespace {

Observation took(double ns) {
  Observation seen;
  seen.run_time = Nanoseconds(std::llround(ns));
  return seen;
}

SearcherOptions iterml_seeded(std::uint64_t seed) {
  SearcherOptions options;
  options.seed = seed;
  return options;
}

IterMlOptions with(std::string learner, double pick, double cut, std::size_t iterations) {
  IterMlOptions options;
  options.learner = std::move(learner);
  options.pick_ratio = pick;
  options.cut_ratio = cut;
  options.iterations = iterations;
  return options;
}

std::unique_ptr<Searcher> searcher_on(const Space& space, std::uint64_t seed,
                                      const IterMlOptions& options) {
  auto made = IterMlSearcher::make(space, iterml_seeded(seed), options);
  REQUIRE(made.ok());
  return std::move(*made);
}

std::int64_t measure_next(Searcher& searcher, double (*time_ns)(std::int64_t)) {
  const auto proposal = required(searcher.ask());
  const std::int64_t x = proposal.configuration[0];
  searcher.tell(proposal.configuration, took(time_ns(x)));
  return x;
}

double slope(std::int64_t x) { return 1000.0 + static_cast<double>(x); }

}  // namespace

TEST_CASE("each iteration samples the same number, then drops the wanted share") {
  const Space space = line(1000);
  auto owned = searcher_on(space, 1, with("cart", 0.02, 0.5, 3));
  auto& searcher = static_cast<IterMlSearcher&>(*owned);
  CHECK(searcher.sample_size() == 20);
  // 1000 - 20 = 980 -> 490; 490 - 20 = 470 -> 235; 235 - 20 = 215 -> 108.
  const std::size_t kept[] = {490, 235, 108};
  std::size_t before = 1000, dropped = 0;
  for (std::size_t iteration = 1; iteration <= 3; ++iteration) {
    while (searcher.remaining() > before - 20) measure_next(searcher, slope);
    CHECK(searcher.iteration() == iteration - 1);
    CHECK(searcher.dropped() == dropped);
    measure_next(searcher, slope);  // prunes first
    dropped += before - 20 - kept[iteration - 1];
    CHECK(searcher.iteration() == iteration);
    CHECK(searcher.dropped() == dropped);
    CHECK(searcher.remaining() == kept[iteration - 1] - 1);
    before = kept[iteration - 1];
  }
  // The rest is searched exhaustively, without a further model.
  while (searcher.remaining() > 0) measure_next(searcher, slope);
  CHECK(searcher.iteration() == 3);
  CHECK(searcher.dropped() == dropped);
}

TEST_CASE(
    "what is dropped is what the model predicts to be slow: compared with an independent one") {
  const Space space = line(60);
  auto owned = searcher_on(space, 3, with("cart", 0.2, 0.5, 1));
  auto& searcher = static_cast<IterMlSearcher&>(*owned);
  std::vector<std::int64_t> sample;
  for (int i = 0; i < 12; ++i) sample.push_back(measure_next(searcher, slope));
  // A full tree on distinct values of one feature splits half way between neighbours; performance
  // falls with x, so what remains is the lower half of the unmeasured, up to ties within a leaf.
  std::sort(sample.begin(), sample.end());
  const auto leaf_of = [&](std::int64_t x) {
    std::size_t leaf = 0;
    while (leaf + 1 < sample.size() && 2 * x > sample[leaf] + sample[leaf + 1]) {
      ++leaf;
    }
    return leaf;
  };
  std::vector<std::size_t> leaves;
  for (std::int64_t x = 0; x < 60; ++x) {
    if (!std::binary_search(sample.begin(), sample.end(), x)) leaves.push_back(leaf_of(x));
  }
  std::sort(leaves.begin(), leaves.end());
  const std::size_t last_kept = leaves[23];
  for (int i = 0; i < 24; ++i) {
    const std::int64_t x = measure_next(searcher, slope);
    CHECK(leaf_of(x) <= last_kept);
  }
  CHECK(searcher.remaining() == 0);
  for (int i = 0; i < 24; ++i) CHECK(leaf_of(measure_next(searcher, slope)) >= last_kept);
  CHECK_FALSE(searcher.ask().has_value());
}

TEST_CASE("every learner proposes every configuration once, then ends") {
  const Space space = line(150);
  for (const std::string_view learner : learners::learner_names()) {
    CAPTURE(std::string(learner));
    auto searcher = searcher_on(space, 2, with(std::string(learner), 0.1, 0.5, 0));
    searcher->exclude({17});
    std::set<std::int64_t> seen;
    while (const auto proposal = searcher->ask()) {
      const std::int64_t x = proposal->configuration[0];
      REQUIRE(x != 17);
      REQUIRE(seen.insert(x).second);
      Observation result = took(slope(x));
      if (x % 4 == 0) result.status = TrialStatus::compile;
      searcher->tell(proposal->configuration, result);
    }
    CHECK(seen.size() == 149);
  }
}

TEST_CASE(
    "without a number of iterations pruning ends where a sample would take all that is left") {
  const Space space = line(1000);
  auto owned = searcher_on(space, 1, with("forest", 0.02, 0.5, 0));
  auto& searcher = static_cast<IterMlSearcher&>(*owned);
  while (searcher.dropped() + searcher.remaining() > 0) measure_next(searcher, slope);
  // 490, 235, 108, 44, 12 <= 20.
  CHECK(searcher.iteration() == 5);
}

TEST_CASE("pruning keeps what is good and can lose the best: a needle far from the good region") {
  const Space space = line(1024);
  const auto needle = [](std::int64_t x) { return x == 1000 ? 500.0 : slope(x); };
  int lost = 0, first_tenth = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto owned = searcher_on(space, seed, with("knn", 0.02, 0.5, 4));
    auto& searcher = static_cast<IterMlSearcher&>(*owned);
    std::set<std::int64_t> before;
    while (searcher.iteration() < 4 || searcher.remaining() > 0) {
      before.insert(measure_next(searcher, needle));
    }
    lost += before.count(1000) == 0 ? 1 : 0;
    first_tenth += static_cast<int>(
        std::count_if(before.begin(), before.end(), [](std::int64_t x) { return x < 30; }));
  }
  CHECK(lost >= 12);
  CHECK(first_tenth > 20 * 25);
}

TEST_CASE("a search that ends as published proposes nothing of what was dropped") {
  const Space space = line(1000);
  IterMlOptions options = with("cart", 0.02, 0.5, 3);
  options.search_dropped = false;
  auto owned = searcher_on(space, 1, options);
  auto& searcher = static_cast<IterMlSearcher&>(*owned);
  std::size_t proposed = 0;
  while (const auto proposal = searcher.ask()) {
    ++proposed;
    searcher.tell(proposal->configuration, took(slope(proposal->configuration[0])));
  }
  CHECK(proposed == 3 * 20 + 108);
  CHECK(searcher.dropped() == 1000 - proposed);
}

TEST_CASE("a sample of which nothing ran drops nothing") {
  const Space space = line(100);
  auto owned = searcher_on(space, 1, with("forest", 0.1, 0.5, 2));
  auto& searcher = static_cast<IterMlSearcher&>(*owned);
  Observation broken;
  broken.status = TrialStatus::crash;
  for (int i = 0; i < 30; ++i) {
    const auto proposal = required(searcher.ask());
    searcher.tell(proposal.configuration, broken);
  }
  CHECK(searcher.iteration() == 2);
  CHECK(searcher.dropped() == 0);
}

TEST_CASE("the same seed gives the same search with every learner") {
  const Space space = line(200);
  for (const std::string_view learner : learners::learner_names()) {
    CAPTURE(std::string(learner));
    std::vector<std::int64_t> orders[2];
    for (auto& order : orders) {
      auto searcher = searcher_on(space, 11, with(std::string(learner), 0.1, 0.5, 2));
      for (int i = 0; i < 80; ++i) order.push_back(measure_next(*searcher, slope));
    }
    CHECK(orders[0] == orders[1]);
  }
}
