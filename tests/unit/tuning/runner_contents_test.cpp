#include <doctest/doctest.h>

#include "agent/tuning/runner_contents.hpp"

using namespace idletune;
using idletune::detail::RunnerContents;

namespace {

void ended(RunnerContents& contents, TrialStage stage, const Configuration& configuration,
           TrialStatus status = TrialStatus::correct, const Shape& shape = {64},
           std::uint32_t seed = 1) {
  TrialRequest request;
  request.stage = stage;
  request.configuration = configuration;
  request.shape = shape;
  request.seed = seed;
  TrialOutcome outcome;
  outcome.stage = stage;
  outcome.status = status;
  contents.stage_ended(request, outcome, StepOptions{});
}

}  // namespace

TEST_CASE("what was used longest ago is the first to be forgotten") {
  RunnerContents contents;
  for (std::int64_t i = 0; i < 4; ++i) ended(contents, TrialStage::compile, {i});
  ended(contents, TrialStage::measure, {0});  // used again
  ended(contents, TrialStage::compile, {4});
  CHECK(contents.compiled({0}));
  CHECK_FALSE(contents.compiled({1}));
  for (std::int64_t i = 2; i <= 4; ++i) CHECK(contents.compiled({i}));
  ended(contents, TrialStage::compile, {5}, TrialStatus::compile);
  CHECK_FALSE(contents.compiled({5}));
  CHECK(contents.compiled({2}));
}

TEST_CASE("data are there for the last shape alone") {
  RunnerContents contents;
  ended(contents, TrialStage::prepare, {1}, TrialStatus::correct, {64}, 1);
  CHECK(contents.prepared({64}) == std::array<bool, 2>{true, false});
  ended(contents, TrialStage::prepare, {1}, TrialStatus::correct, {64}, 2);
  CHECK(contents.prepared({64}) == std::array<bool, 2>{true, true});
  ended(contents, TrialStage::check, {1}, TrialStatus::correct, {128});
  CHECK(contents.prepared({64}) == std::array<bool, 2>{false, false});
  CHECK(contents.prepared({128}) == std::array<bool, 2>{false, false});
}

TEST_CASE("a runner that is replaced holds nothing") {
  for (const TrialStatus lost : {TrialStatus::crash, TrialStatus::timeout, TrialStatus::runtime}) {
    RunnerContents contents;
    ended(contents, TrialStage::compile, {1});
    ended(contents, TrialStage::prepare, {1});
    ended(contents, TrialStage::check, {1}, lost);
    CHECK_FALSE(contents.compiled({1}));
    CHECK(contents.prepared({64}) == std::array<bool, 2>{false, false});
  }
}
