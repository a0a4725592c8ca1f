#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <idletune/learning.hpp>

#include "agent/search/product_searcher.hpp"
#include "tests/unit/predict/model_builder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using test::ModelContent;

namespace {

constexpr std::int64_t kSize = 400;

Space line() {
  const std::vector<std::string> names{"x"};
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < kSize; ++i) rows.push_back(i);
  return required(Space::from_rows(names, {}, {}, rows));
}

// Twelve entries, 0 ... 11. Device A likes the even ones, device B the odd ones, the lower the
// better.
std::shared_ptr<const Model> two_devices() {
  ModelContent content;
  content.parameters = {"x"};
  content.sources.emplace_back();
  content.sources[0].device = "A";
  content.sources[1].device = "B";
  for (int i = 0; i < 12; ++i) {
    const float good = 1.0f - 0.02f * static_cast<float>(i);
    const float bad = 0.3f - 0.01f * static_cast<float>(i);
    content.portfolio_values.push_back(i);
    content.portfolio_relative.push_back(i % 2 == 0 ? good : bad);
    content.portfolio_relative.push_back(i % 2 == 0 ? bad : good);
    content.portfolio_score.push_back((good + bad) / 2);
  }
  content.picks = {{-1, {}, {3}, 0.6f}};
  return required(Model::open(test::build_model(content), "test"));
}

SearcherOptions with_forest() {
  SearcherOptions options;
  options.learner = forest_learner();
  return options;
}

// Run times in ns on a device like B, 17 times slower; everything outside of the portfolio is bad.
Observation on_b(const Configuration& configuration) {
  const double x = static_cast<double>(configuration[0]);
  const double q = x >= 12 ? 0.05 : configuration[0] % 2 == 0 ? 0.3 - 0.01 * x : 1.0 - 0.02 * x;
  Observation seen;
  seen.run_time = Nanoseconds(static_cast<std::int64_t>(1.7e7 / q));
  return seen;
}

std::vector<Proposal> play(Searcher& searcher, std::size_t count) {
  std::vector<Proposal> proposals;
  while (proposals.size() < count) {
    const auto proposal = searcher.ask();
    if (!proposal) break;
    proposals.push_back(*proposal);
    searcher.tell(proposal->configuration, on_b(proposal->configuration));
  }
  return proposals;
}

}  // namespace

TEST_CASE("the first pick comes first, then the portfolio with random draws mixed in") {
  const auto model = two_devices();
  const Space space = line();
  ProductSearcher searcher(space, model->kernels()[0], with_forest());
  const auto proposals = play(searcher, 12);
  CHECK(proposals[0].origin == ProposalOrigin::first_pick);
  CHECK(proposals[0].configuration == Configuration{3});
  for (const std::size_t i : {1u, 2u, 3u, 4u})
    CHECK(proposals[i].origin == ProposalOrigin::portfolio);
  for (const std::size_t i : {5u, 11u}) CHECK(proposals[i].origin == ProposalOrigin::random);
}

TEST_CASE("the portfolio is re-ranked towards the device that predicts what is measured") {
  const auto model = two_devices();
  const Space space = line();
  SearcherOptions options;
  options.random_every = 0;
  ProductSearcher searcher(space, model->kernels()[0], options);
  CHECK(searcher.beliefs().weight(0) == doctest::Approx(searcher.beliefs().weight(1)));
  const auto proposals = play(searcher, 9);
  CHECK(searcher.beliefs().weight(1) > 0.8);
  CHECK(searcher.beliefs().weight(0) + searcher.beliefs().weight(1) +
            searcher.beliefs().weight_of_none() ==
        doctest::Approx(1));
  // Once the weights have moved, device B's choices come in its order.
  std::vector<std::int64_t> late;
  for (std::size_t i = 4; i < 9; ++i) late.push_back(proposals[i].configuration[0]);
  CHECK(std::count_if(late.begin(), late.end(), [](std::int64_t x) { return x % 2 == 1; }) >= 3);
}

TEST_CASE("every configuration is proposed exactly once in the end") {
  const auto model = two_devices();
  const Space space = line();
  for (const std::uint32_t every : {0u, 1u, 2u, 4u, 100u}) {
    SearcherOptions options;
    options.random_every = every;
    ProductSearcher searcher(space, model->kernels()[0], options);
    std::set<std::int64_t> seen;
    for (const Proposal& proposal : play(searcher, 1000)) seen.insert(proposal.configuration[0]);
    CHECK(seen.size() == kSize);
    CHECK_FALSE(searcher.ask().has_value());
  }
}

TEST_CASE("what was excluded or told from outside is not proposed") {
  const auto model = two_devices();
  const Space space = line();
  ProductSearcher searcher(space, model->kernels()[0], with_forest());
  for (std::int64_t x = 0; x < kSize; x += 2) searcher.exclude(Configuration{x});
  searcher.tell(Configuration{3}, on_b(Configuration{3}));
  const auto proposals = play(searcher, 1000);
  CHECK(proposals.size() == kSize / 2 - 1);
  for (const Proposal& proposal : proposals) {
    CHECK(proposal.configuration[0] % 2 == 1);
    CHECK(proposal.configuration[0] != 3);
  }
}

TEST_CASE("the same seed and the same answers give the same proposals") {
  const auto model = two_devices();
  const Space space = line();
  ProductSearcher a(space, model->kernels()[0], with_forest());
  ProductSearcher b(space, model->kernels()[0], with_forest());
  const auto first = play(a, 200);
  const auto second = play(b, 200);
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    CHECK(first[i].configuration == second[i].configuration);
}

TEST_CASE("a portfolio no better than random draws loses its preference") {
  const auto model = two_devices();
  const Space space = line();
  ProductSearcher searcher(space, model->kernels()[0], with_forest());
  // On this device everything in the portfolio is slower than everything else.
  std::size_t random = 0;
  std::size_t entries = 0;
  for (int i = 0; i < 30; ++i) {
    const auto proposal = required(searcher.ask());
    Observation seen;
    seen.run_time = Nanoseconds(proposal.configuration[0] < 12 ? 5000 : 1000);
    searcher.tell(proposal.configuration, seen);
    if (proposal.origin == ProposalOrigin::random) ++random;
    if (i >= 18 && proposal.origin == ProposalOrigin::portfolio) ++entries;
  }
  CHECK_FALSE(searcher.trusts_portfolio());
  CHECK(random == 5);
  CHECK(entries <= 2);
  CHECK(searcher.outlook().random_share == doctest::Approx(1 - 5.0 / 6 / 6));
}

TEST_CASE("draws that cannot be launched do not speak for the portfolio") {
  const auto model = two_devices();
  const Space space = line();
  ProductSearcher searcher(space, model->kernels()[0], with_forest());
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    const auto proposal = required(searcher.ask());
    Observation seen;
    if (proposal.origin == ProposalOrigin::random && proposal.configuration[0] % 2 == 1) {
      seen.status = TrialStatus::constraints;
    } else {
      seen.run_time = Nanoseconds(1000 + random.below(1000));
    }
    searcher.tell(proposal.configuration, seen);
  }
  CHECK_FALSE(searcher.trusts_portfolio());
}

TEST_CASE("failures are told like measurements") {
  const auto model = two_devices();
  const Space space = line();
  ProductSearcher searcher(space, model->kernels()[0], with_forest());
  Observation failed;
  failed.status = TrialStatus::compile;
  std::set<std::int64_t> seen;
  while (const auto proposal = searcher.ask()) {
    CHECK(seen.insert(proposal->configuration[0]).second);
    searcher.tell(proposal->configuration, failed);
  }
  CHECK(seen.size() == kSize);
}

TEST_CASE("without a model every searcher begins with draws") {
  const auto model = two_devices();
  const Space space = line();
  CHECK(make_product_searcher(space, &model->kernels()[0], with_forest())->ask().has_value());
  CHECK(make_product_searcher(space, nullptr, with_forest())->ask()->origin ==
        ProposalOrigin::random);
  CHECK(make_random_searcher(space, {})->ask()->origin == ProposalOrigin::random);
}

TEST_CASE("what an earlier session measured is recalled by origin and not proposed again") {
  const auto model = two_devices();
  const Space space = line();
  ProductSearcher first(space, model->kernels()[0], with_forest());
  const auto proposals = play(first, 40);
  ProductSearcher second(space, model->kernels()[0], with_forest());
  std::size_t drawn = 0;
  std::size_t learned = 0;
  for (const Proposal& proposal : proposals) {
    const bool was_drawn = proposal.origin == ProposalOrigin::random;
    const ProposalOrigin origin = second.recall(proposal.configuration, was_drawn);
    const bool entry = proposal.configuration[0] < 12;
    if (was_drawn) {
      CHECK(origin == ProposalOrigin::random);
      ++drawn;
    } else if (proposal.origin == ProposalOrigin::learned && !entry) {
      ++learned;
      CHECK(origin == ProposalOrigin::learned);
    } else {
      CHECK((origin == ProposalOrigin::portfolio || origin == ProposalOrigin::first_pick));
    }
    second.tell(proposal.configuration, on_b(proposal.configuration));
  }
  CHECK(drawn >= 5);
  CHECK(learned >= 10);
  for (std::size_t d = 0; d < 2; ++d) {
    CHECK(second.beliefs().weight(d) == doctest::Approx(first.beliefs().weight(d)));
  }
  CHECK(second.beliefs().tried_weight() == doctest::Approx(first.beliefs().tried_weight()));
  std::set<std::int64_t> before;
  for (const Proposal& proposal : proposals) before.insert(proposal.configuration[0]);
  for (const Proposal& proposal : play(second, 400)) {
    CHECK(before.count(proposal.configuration[0]) == 0);
  }
}

TEST_CASE("the outlook names the beliefs and how many of the next proposals are draws") {
  const auto model = two_devices();
  const Space space = line();
  ProductSearcher searcher(space, model->kernels()[0], with_forest());
  CHECK(searcher.outlook().beliefs == &searcher.beliefs());
  CHECK(searcher.outlook().random_share == doctest::Approx(1.0 / 6));
  SearcherOptions options;
  options.random_every = 0;
  CHECK(ProductSearcher(space, model->kernels()[0], options).outlook().random_share == 0);
  CHECK(make_product_searcher(space, nullptr, with_forest())->outlook().beliefs == nullptr);
}

TEST_CASE("without a model a forest proposes, and a share of uniform draws stays") {
  const Space space = line();
  auto searcher = make_product_searcher(space, nullptr, with_forest());
  const auto proposals = play(*searcher, 40);
  REQUIRE(proposals.size() == 40);
  std::size_t learned = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    if (i < 6 || (i + 1) % 6 == 0) CHECK(proposals[i].origin == ProposalOrigin::random);
    if (proposals[i].origin == ProposalOrigin::learned) ++learned;
  }
  CHECK(learned >= 24);
}

TEST_CASE("without a learner nothing is learned: entries and draws, or draws alone") {
  const auto model = two_devices();
  const Space space = line();
  auto guided = make_product_searcher(space, &model->kernels()[0], {});
  for (const Proposal& proposal : play(*guided, 100)) {
    CHECK(proposal.origin != ProposalOrigin::learned);
  }
  auto unguided = make_product_searcher(space, nullptr, {});
  for (const Proposal& proposal : play(*unguided, 100)) {
    CHECK(proposal.origin == ProposalOrigin::random);
  }
}

TEST_CASE("a model of another space leaves it to the forest") {
  ModelContent content;
  content.parameters = {"x"};
  for (const std::int64_t x : {1000, 2000, 3000}) {
    content.portfolio_values.push_back(x);
    content.portfolio_relative.push_back(0.9f);
    content.portfolio_score.push_back(0.9f);
  }
  const auto model = required(Model::open(test::build_model(content), "test"));
  const Space space = line();
  ProductSearcher searcher(space, model->kernels()[0], with_forest());
  std::size_t learned = 0;
  for (const Proposal& proposal : play(searcher, 40)) {
    CHECK(proposal.origin != ProposalOrigin::portfolio);
    if (proposal.origin == ProposalOrigin::learned) ++learned;
  }
  CHECK(learned >= 22);
}

TEST_CASE("what the portfolio does not have is found by the forest") {
  const auto model = two_devices();
  const Space space = line();
  ProductSearcher searcher(space, model->kernels()[0], with_forest());
  // The best is at 240, far from every entry.
  std::size_t steps = 0;
  for (; steps < 100; ++steps) {
    const auto proposal = required(searcher.ask());
    const double away = static_cast<double>(proposal.configuration[0] - 240);
    if (away == 0) break;
    Observation seen;
    seen.run_time = Nanoseconds(static_cast<std::int64_t>(1e6 * (1 + std::fabs(away) / 40)));
    searcher.tell(proposal.configuration, seen);
  }
  CHECK(steps < 60);
}

TEST_CASE(
    "a restart after many measurements proposes none of them, and few things are recalled wrong") {
  const auto model = two_devices();
  const Space space = line();
  ProductSearcher first(space, model->kernels()[0], with_forest());
  const auto proposals = play(first, 200);
  ProductSearcher second(space, model->kernels()[0], with_forest());
  for (const Proposal& proposal : proposals) {
    (void)second.recall(proposal.configuration, std::nullopt);
    second.tell(proposal.configuration, on_b(proposal.configuration));
  }
  std::set<std::int64_t> seen;
  for (const Proposal& proposal : proposals) seen.insert(proposal.configuration[0]);
  REQUIRE(seen.size() == 200);
  for (const Proposal& proposal : play(second, 400)) {
    CHECK(seen.insert(proposal.configuration[0]).second);
  }
  CHECK(seen.size() == kSize);
}

TEST_CASE("the outlook lists the entries in the order in which they are proposed") {
  const auto model = two_devices();
  const Space space = line();
  SearcherOptions options;
  options.random_every = 0;
  ProductSearcher searcher(space, model->kernels()[0], options);
  play(searcher, 4);
  const SearchOutlook outlook = searcher.outlook();
  REQUIRE_FALSE(outlook.upcoming.empty());
  for (std::size_t i = 1; i < outlook.upcoming.size(); ++i) {
    CHECK(outlook.upcoming[i - 1].value >= outlook.upcoming[i].value);
  }
  const std::size_t next = outlook.upcoming[0].entry;
  const auto proposal = required(searcher.ask());
  if (proposal.origin == ProposalOrigin::portfolio) {
    CHECK(proposal.configuration[0] == static_cast<std::int64_t>(next));
  }
}

namespace {

// Draws among the first `steps` proposals of sessions of so many each; all is recalled in between.
std::size_t draws_of_sessions(const KernelKnowledge* kernel, const Space& space,
                              const SearcherOptions& options, std::size_t steps,
                              std::size_t session) {
  std::vector<Proposal> all;
  std::size_t draws = 0;
  while (all.size() < steps) {
    const auto searcher = make_product_searcher(space, kernel, options);
    for (const Proposal& each : all) {
      (void)searcher->recall(each.configuration, std::nullopt);
      searcher->tell(each.configuration, on_b(each.configuration));
    }
    for (const Proposal& each : play(*searcher, session)) {
      all.push_back(each);
      if (each.origin == ProposalOrigin::random) ++draws;
    }
  }
  return draws;
}

// Remembers whether it was told to forget.
struct ForgetfulLearner final : SearchLearner {
  struct Proposals final : LearnedProposals {
    explicit Proposals(int& told) : forgotten(told) {}
    void tell(const Configuration&, const Observation&) override {}
    void exclude(const Configuration&) override {}
    std::optional<Configuration> propose() override { return Configuration{next++}; }
    void forget_history() override { ++forgotten; }
    int& forgotten;
    std::int64_t next = 100;
  };
  std::unique_ptr<LearnedProposals> make(const Space&, std::uint64_t,
                                         Span<const Favourite>) const override {
    return std::make_unique<Proposals>(forgotten);
  }
  mutable int forgotten = 0;
};

}  // namespace

TEST_CASE("sessions of few steps draw uniformly as often as one of many") {
  const auto model = two_devices();
  const Space space = line();
  for (const KernelKnowledge* kernel : {&model->kernels()[0], (const KernelKnowledge*)nullptr}) {
    const std::size_t whole = draws_of_sessions(kernel, space, with_forest(), 60, 60);
    for (const std::size_t session : {2u, 3u, 5u}) {
      CHECK(draws_of_sessions(kernel, space, with_forest(), 60, session) == whole);
    }
  }
}

TEST_CASE("what the learner was told of history is forgotten once the portfolio is distrusted") {
  const auto model = two_devices();
  const Space space = line();
  for (const bool misleading : {false, true}) {
    const ForgetfulLearner learner;
    SearcherOptions options;
    options.learner = &learner;
    ProductSearcher searcher(space, model->kernels()[0], options);
    for (int i = 0; i < 60; ++i) {
      const auto proposal = required(searcher.ask());
      Observation seen;
      const bool entry = proposal.configuration[0] < 12;
      seen.run_time = Nanoseconds(entry == misleading ? 5000 : 1000);
      searcher.tell(proposal.configuration, seen);
    }
    CHECK(searcher.trusts_portfolio() != misleading);
    CHECK(learner.forgotten == (misleading ? 1 : 0));
  }
}
