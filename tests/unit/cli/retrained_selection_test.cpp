#include "agent/host/lab/verbs/retrained_selection.hpp"

#include <doctest/doctest.h>

using namespace idletune;

namespace {

// One method is better below half of the sizes, the other above; at every fourth problem it is the
// other way round by a little, as measurements have it.
selection::Problems noisy_halves() {
  constexpr std::size_t kProblems = 96;
  selection::Problems problems;
  problems.inputs = {"N"};
  problems.members = {"only"};
  problems.member = {0, 0};
  problems.configurations = {Configuration{0}, Configuration{1}};
  for (std::size_t p = 0; p < kProblems; ++p) {
    const bool small = p < kProblems / 2, turned = p % 4 == 3;
    problems.sizes.push_back({static_cast<double>(16 + p)});
    problems.group.push_back(p);
    const double other = turned ? 95 : 160;
    problems.ns.push_back(small ? std::vector<double>{100, other}
                                : std::vector<double>{other, 100});
  }
  problems.seen = problems.count();
  return problems;
}

}  // namespace

TEST_CASE("a tree of all measurements is of the kind that does best where it was not grown") {
  selection::EvaluationOptions options;
  options.splits = 8;
  const cli::RetrainedScores scores =
      cli::retrained_selection(noisy_halves(), noisy_halves(), 8, options);
  REQUIRE(scores.splits == 8);
  // The right half everywhere, and 0.95 at a fourth: 0.9875.
  CHECK(scores.native.dtpr.mean() > 0.9);
}

TEST_CASE("a pick that the board does not have is the default at that problem") {
  selection::Problems here = noisy_halves(), there = here;
  here.members.push_back("other");
  here.member = {0, 1};
  for (std::size_t p = 0; p < here.count(); ++p) {
    const bool small = p < here.count() / 2;
    here.ns[p] = {small ? 100.0 : 200.0, small ? 200.0 : 100.0};
  }
  there.configurations = {Configuration{7}, Configuration{8}};
  const cli::RetrainedScores scores = cli::retrained_selection(here, there, 0, {});
  CHECK(scores.before.dttr.mean() == 1);
}
