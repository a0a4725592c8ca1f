#include <vector>

#include <doctest/doctest.h>

#include "agent/host/lab/steps/steps_prediction.hpp"
#include "models/host/insight/steps.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

TEST_CASE("the paper's rule is formula 2 of the mean fraction") {
  const std::vector<SpaceOnDevice> others{{"a", 1000, 10}, {"b", 2000, 60}};
  const auto prediction = required(predict_steps_by_mean(others, 0.95));
  CHECK(prediction.fraction == doctest::Approx(0.02));
  CHECK(prediction.steps == random_search_steps(0.02, 0.95));
  CHECK(prediction.most == 0);
}

TEST_CASE("kin count more than strangers") {
  const std::vector<SpaceOnDevice> others{{"Tesla V100", 10000, 100},
                                          {"AMD Radeon RX 6800", 10000, 1}};
  const auto like_v100 = predict_steps_by_kinship("A100", 10000, others, 0.5);
  const auto like_radeon = predict_steps_by_kinship("Radeon RX 6600", 10000, others, 0.5);
  const auto like_both = predict_steps_by_kinship("some board", 10000, others, 0.5);
  REQUIRE(like_v100.has_value());
  REQUIRE(like_radeon.has_value());
  REQUIRE(like_both.has_value());
  CHECK(like_both->fraction == doctest::Approx(0.001));  // the geometric mean
  CHECK(like_v100->fraction > 3 * like_both->fraction);
  CHECK(like_radeon->fraction < like_both->fraction / 3);
  CHECK(like_v100->steps < like_both->steps);
}

TEST_CASE(
    "equal devices predict what drawing without repetition needs, with an interval around it") {
  const std::vector<SpaceOnDevice> others{{"x", 500, 5}, {"y", 500, 5}};
  const auto prediction = required(predict_steps_by_kinship("z", 500, others, 0.5));
  CHECK(prediction.steps == random_search_steps_without_repetition(500, 5, 0.5));
  CHECK(prediction.fewest < prediction.steps);
  CHECK(prediction.most > prediction.steps);
  CHECK(prediction.most <= 500);
  std::vector<SpaceOnDevice> many(40, SpaceOnDevice{"x", 500, 5});
  const auto surer = predict_steps_by_kinship("z", 500, many, 0.5);
  CHECK(surer->most < prediction.most);
}

TEST_CASE("without anything that performs well there is no prediction") {
  const std::vector<SpaceOnDevice> none;
  const std::vector<SpaceOnDevice> failed{{"x", 500, 0}, {"y", 0, 0}};
  CHECK_FALSE(predict_steps_by_mean(none, 0.5).has_value());
  CHECK_FALSE(predict_steps_by_mean(failed, 0.5).has_value());
  CHECK_FALSE(predict_steps_by_kinship("z", 500, none, 0.5).has_value());
  CHECK_FALSE(predict_steps_by_kinship("z", 500, failed, 0.5).has_value());
}
