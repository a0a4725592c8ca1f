#include <string>

#include <doctest/doctest.h>

#include "agent/host/lab/learners/learners.hpp"
#include "tests/unit/forest/golden_file.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::learners;

TEST_CASE("each of the five learners answers to its name and learns either task") {
  const auto regression = test::read_golden("friedman");
  const auto classification = test::read_golden("blobs");
  CHECK(learner_names().size() == 5);
  for (const std::string_view name : learner_names()) {
    CAPTURE(std::string(name));
    auto learner = required(make_learner(name, 3));
    CHECK(learner->name() == name);
    CHECK(learner->predict(regression.test_data().row(0)).value == 0);  // knows nothing yet
    REQUIRE(learner->fit(regression.training_data()).ok());
    CHECK(score_of(predictions_of(*learner, regression), regression) > 0.4);
    REQUIRE(learner->fit(classification.training_data()).ok());
    CHECK(score_of(predictions_of(*learner, classification), classification) > 0.6);
  }
}

TEST_CASE("a learner that is given bad data keeps what it knew") {
  const auto file = test::read_golden("friedman");
  for (const std::string_view name : learner_names()) {
    CAPTURE(std::string(name));
    auto learner = required(make_learner(name, 3));
    REQUIRE(learner->fit(file.training_data()).ok());
    const auto before = predictions_of(*learner, file);
    Dataset bad = file.training_data();
    bad.columns = 5;
    CHECK(learner->fit(bad).code() == StatusCode::invalid_argument);
    CHECK(predictions_of(*learner, file) == before);
  }
}

TEST_CASE("an unknown learner's message lists the known ones") {
  const auto learner = make_learner("oracle", 1);
  REQUIRE(!learner.ok());
  CHECK(learner.code() == StatusCode::invalid_argument);
  CHECK(learner.status().message().find("cart, forest, knn, svm, mlp") != std::string::npos);
}
