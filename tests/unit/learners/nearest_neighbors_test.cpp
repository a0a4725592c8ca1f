#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "models/host/learners/nearest_neighbors.hpp"

using namespace idletune;
using namespace idletune::learners;

namespace {

NearestNeighbors fitted(const NeighborOptions& options, const Dataset& data) {
  NearestNeighbors learner(options);
  const Status status = learner.fit(data);
  REQUIRE_MESSAGE(status.ok(), status.message());
  return learner;
}

NeighborOptions nearest(std::size_t count) {
  NeighborOptions options;
  options.neighbors = count;
  return options;
}

const std::vector<float> kLine{0, 1, 2, 3, 10};
const std::vector<float> kTargets{0, 10, 20, 30, 100};
const Dataset kData{kLine, 1, {}, kTargets, 0};

}  // namespace

TEST_CASE("the nearest rows are averaged") {
  const NearestNeighbors learner = fitted(nearest(2), kData);
  const Prediction prediction = learner.predict(std::vector<float>{1.4f});
  CHECK(prediction.value == 15);
  CHECK(prediction.spread == 5);
  CHECK(fitted(nearest(64), kData).predict(std::vector<float>{0}).value == 32);
}

TEST_CASE("among equally near rows the earlier ones count") {
  CHECK(fitted(nearest(1), kData).predict(std::vector<float>{1.5f}).value == 10);
  const std::vector<float> line{1, 1, -1, -1}, targets{1, 2, 4, 8};
  const NearestNeighbors learner = fitted(nearest(3), {line, 1, {}, targets, 0});
  CHECK(learner.predict(std::vector<float>{0}).value == doctest::Approx(7.0 / 3));
}

TEST_CASE("categories are equal or different, nothing else") {
  const std::vector<float> values{0, 1, 31, 1.5f};
  const std::vector<float> targets{1, 2};
  const FeatureKind kinds[] = {FeatureKind::categorical, FeatureKind::numeric};
  const NearestNeighbors learner = fitted(nearest(1), {values, 2, kinds, targets, 0});
  CHECK(learner.predict(std::vector<float>{30, 1.1f}).value == 1);  // 31 is no nearer to 30 than 0
  CHECK(learner.predict(std::vector<float>{31, 1}).value == 2);
}

TEST_CASE("the class of most neighbours wins, the lowest among equals") {
  const std::vector<float> line{0, 1, 2, 3}, targets{2, 1, 1, 2};
  const Dataset data{line, 1, {}, targets, 3};
  CHECK(fitted(nearest(3), data).predict(std::vector<float>{0}).value == 1);
  CHECK(fitted(nearest(4), data).predict(std::vector<float>{0}).value == 1);
  CHECK(fitted(nearest(1), data).predict(std::vector<float>{0}).value == 2);
}

TEST_CASE("standardised features weigh the same whatever their unit") {
  const std::vector<float> values{0, 0, 1000, 1, 2000, 0, 3000, 1};
  const std::vector<float> targets{1, 2, 3, 4};
  NeighborOptions options = nearest(1);
  const Dataset data{values, 2, {}, targets, 0};
  const std::vector<float> row{600, 0};
  CHECK(fitted(options, data).predict(row).value == 2);
  options.standardize = true;
  CHECK(fitted(options, data).predict(row).value == 1);
}

TEST_CASE("rows with values that are no numbers are still answered") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const NearestNeighbors learner = fitted(nearest(2), kData);
  CHECK(learner.predict(std::vector<float>{nan}).value == 5);
  CHECK(learner.predict(std::vector<float>{infinity}).value == 5);
  CHECK(learner.predict(std::vector<float>{1, 2}).value == 0);  // not a row of one column
}

TEST_CASE("neighbours refuse what makes no sense, and more memory than allowed") {
  NearestNeighbors none(nearest(0));
  CHECK(none.fit(kData).code() == StatusCode::invalid_argument);
  NearestNeighbors many(nearest(kMaxNeighbors + 1));
  CHECK(many.fit(kData).code() == StatusCode::invalid_argument);
  NeighborOptions options;
  options.max_bytes = 64;
  NearestNeighbors small(options);
  CHECK(small.fit(kData).code() == StatusCode::out_of_memory);
}
