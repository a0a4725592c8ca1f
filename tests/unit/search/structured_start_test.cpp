#include "agent/search/structured_start.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "agent/search/random_searcher.hpp"
#include "tests/unit/predict/model_builder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

constexpr std::int64_t kWidths = 300;

// x is the width of its groups.
class Widths final : public WorkGroups {
 public:
  std::uint64_t items(const Configuration& configuration) const override {
    return static_cast<std::uint64_t>(configuration[0]);
  }
};

Space widths(std::int64_t most = kWidths) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 1; i <= most; ++i) rows.push_back(i);
  return required(Space::from_rows(std::vector<std::string>{"x"}, {}, {}, rows));
}

// One that was learned on such a device and likes groups of one item.
std::shared_ptr<const Model> narrow_model(const std::string& device) {
  test::ModelContent content;
  content.parameters = {"x"};
  content.sources[0].device = device;
  for (int x = 1; x <= 6; ++x) {
    content.portfolio_values.push_back(x);
    content.portfolio_relative.push_back(1.0f - 0.05f * static_cast<float>(x));
    content.portfolio_score.push_back(1.0f - 0.05f * static_cast<float>(x));
  }
  content.picks = {{-1, {}, {1}, 0.9f}};
  return required(Model::open(test::build_model(content), "test"));
}

bool fills_warps(const Proposal& proposal) {
  return proposal.configuration[0] >= 32 && proposal.configuration[0] <= 256;
}

SearcherOptions on(const char* device, const WorkGroups* groups) {
  SearcherOptions options;
  options.device = device;
  options.work_groups = groups;
  return options;
}

}  // namespace

TEST_CASE("on a GPU the picks of processors are tried last") {
  const Widths groups;
  const Space space = widths();
  const auto model = narrow_model("pthread-AMD EPYC 7B13");
  const KernelKnowledge& kernel = model->kernels()[0];
  CHECK(first_pick(kernel, space, {}, "Mali-G610")->quality == PickQuality::other_kind);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SearcherOptions options = on("Mali-G610", &groups);
    options.seed = seed;
    const auto searcher = make_product_searcher(space, &kernel, options);
    std::set<std::int64_t> seen;
    for (int i = 0; i < StructuredStart::kFirst; ++i) {
      CHECK(searcher->outlook().random_share == 1);
      const auto proposal = required(searcher->ask());
      CHECK(fills_warps(proposal));
      CHECK(proposal.origin == ProposalOrigin::learned);
      CHECK(seen.insert(proposal.configuration[0]).second);
      searcher->tell(proposal.configuration, {TrialStatus::correct, Nanoseconds{1000}, {}});
    }
    // Then the others, each once.
    CHECK(searcher->outlook().random_share < 1);
    bool entries = false;
    while (const auto proposal = searcher->ask()) {
      CHECK(seen.insert(proposal->configuration[0]).second);
      CHECK(proposal->origin != ProposalOrigin::first_pick);
      entries = entries || proposal->origin == ProposalOrigin::portfolio;
      searcher->tell(proposal->configuration, {TrialStatus::correct, Nanoseconds{2000}, {}});
    }
    CHECK(entries);
    CHECK(seen.size() == static_cast<std::size_t>(kWidths));
  }
}

TEST_CASE("what is known of a device's kind comes first") {
  const Widths groups;
  const Space space = widths();
  const auto begins = [&](const char* learned, const char* device, const WorkGroups* of) {
    const auto model = narrow_model(learned);
    return begins_by_structure(space, &model->kernels()[0], on(device, of));
  };
  CHECK(begins("pthread-AMD EPYC 7B13", "Mali-G610", &groups));
  CHECK_FALSE(begins("Mali-G710", "Mali-G610", &groups));
  CHECK_FALSE(begins("NVIDIA A100-PCIE-40GB", "Mali-G610", &groups));
  CHECK_FALSE(begins("pthread-AMD EPYC 7B13", "Mali-G610", nullptr));
  CHECK(begins_by_structure(space, nullptr, on("Mali-G610", &groups)));
  const auto model = narrow_model("Mali-G710");
  const auto first = make_product_searcher(space, &model->kernels()[0], on("Orin", &groups))->ask();
  CHECK(first->origin == ProposalOrigin::first_pick);
  CHECK(first->configuration[0] == 1);
}

TEST_CASE("where no group fills a warp the search begins as it would") {
  const Widths groups;
  const Space space = widths(20);
  const SearcherOptions options = on("Mali-G610", &groups);
  StructuredStart searcher(space, make_random_searcher(space, options), options);
  std::set<std::int64_t> seen;
  while (const auto proposal = searcher.ask()) {
    CHECK(proposal->origin == ProposalOrigin::random);
    seen.insert(proposal->configuration[0]);
  }
  CHECK(seen.size() == 20);
}

TEST_CASE("what was measured or refused before is not proposed again") {
  const Widths groups;
  const Space space = widths();
  const SearcherOptions options = on("Mali-G610", &groups);
  StructuredStart searcher(space, make_random_searcher(space, options), options);
  for (std::int64_t x = 32; x <= 250; ++x) searcher.exclude(Configuration{x});
  (void)searcher.recall(Configuration{251}, std::nullopt);
  searcher.tell(Configuration{251}, {TrialStatus::correct, Nanoseconds{1000}, {}});
  std::set<std::int64_t> seen;
  int structured = 0;
  while (const auto proposal = searcher.ask()) {
    structured += proposal->origin == ProposalOrigin::learned ? 1 : 0;
    CHECK(seen.insert(proposal->configuration[0]).second);
  }
  CHECK(seen.size() == 31 + 5 + 44);
  // The recalled one was one of the first.
  CHECK(structured <= StructuredStart::kFirst - 1);
}
