#include <doublefann.h>

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "agent/host/lab/learners/perceptron_training.hpp"
#include "models/core/random.hpp"
#include "tests/unit/forest/golden_file.hpp"

using namespace idletune;
using namespace idletune::learners;
using test::GoldenFile;
using test::GoldenResult;
using test::read_golden;

namespace {

double mean_score(const GoldenFile& file) {
  double mean = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    PerceptronOptions options;
    options.seed = seed;
    PerceptronLearner learner(options);
    const Status fitted = learner.fit(file.training_data());
    REQUIRE_MESSAGE(fitted.ok(), fitted.message());
    mean += score_of(predictions_of(learner, file), file) / 5;
  }
  return mean;
}

}  // namespace

TEST_CASE("a perceptron scores at most 0.05 below scikit-learn's, averaged over seeds") {
  std::size_t compared = 0;
  for (const char* name : {"friedman", "blobs", "gemm", "gemm_quartiles"}) {
    const GoldenFile file = read_golden(name);
    for (const GoldenResult& golden : file.results) {
      if (golden.learner != "mlp") continue;
      CAPTURE(golden.description());
      const double mean = mean_score(file);
      CHECK(mean >= golden.number("mean", 1) - 0.05);
      ++compared;
    }
  }
  CHECK(compared == 4);
}

TEST_CASE("a perceptron reads weights as FANN does") {
  Random random(3);
  const unsigned widths[] = {5, 7, 4, 2};
  fann* network = fann_create_standard_array(4, widths);
  REQUIRE(network != nullptr);
  fann_set_activation_function_hidden(network, FANN_SIGMOID_SYMMETRIC);
  fann_set_activation_function_output(network, FANN_LINEAR);
  fann_set_activation_steepness_hidden(network, 1);
  fann_set_activation_steepness_output(network, 1);
  Perceptron perceptron;
  perceptron.columns.resize(5);
  perceptron.layers = {7, 4, 1};
  for (unsigned i = 0; i < network->total_connections; ++i) {
    const float weight = static_cast<float>(2 * random.uniform() - 1);
    network->weights[i] = static_cast<double>(weight);
    perceptron.weights.push_back(weight);
  }
  perceptron.weights.resize(perceptron.weights.size() - 5);  // FANN's second output
  REQUIRE(verify(perceptron.view()).ok());
  for (int i = 0; i < 100; ++i) {
    std::vector<float> row;
    std::vector<double> inputs;
    for (int c = 0; c < 5; ++c) {
      row.push_back(static_cast<float>(4 * random.uniform() - 2));
      inputs.push_back(static_cast<double>(row.back()));
    }
    const double expected = fann_run(network, inputs.data())[0];
    CHECK(std::fabs(static_cast<double>(perceptron.view().predict(row)) - expected) < 1e-5);
  }
  fann_destroy(network);
}

TEST_CASE("training a perceptron depends on the seed alone") {
  const GoldenFile file = read_golden("friedman");
  const auto once = train_perceptron(file.training_data(), {});
  const auto again = train_perceptron(file.training_data(), {});
  PerceptronOptions other;
  other.seed = 2;
  const auto different = train_perceptron(file.training_data(), other);
  REQUIRE((once.ok() && again.ok() && different.ok()));
  CHECK(once->weights == again->weights);
  CHECK(once->weights != different->weights);
}

TEST_CASE("a perceptron learns two layers, categories, and data without variation") {
  const GoldenFile file = read_golden("categories");
  PerceptronOptions options;
  options.hidden = {12, 6};
  options.members = 1;
  PerceptronLearner learner(options);
  REQUIRE(learner.fit(file.training_data()).ok());
  CHECK(score_of(predictions_of(learner, file), file) > 0.9);
  CHECK(learner.perceptron().layers == std::vector<std::uint32_t>{12, 6, 1});

  const std::vector<float> values{1, 1, 1}, targets{4, 4, 4};
  PerceptronLearner constant;
  REQUIRE(constant.fit({values, 1, {}, targets, 0}).ok());
  CHECK(constant.predict({values.data(), 1}).value == doctest::Approx(4).epsilon(0.01));
}

TEST_CASE("a perceptron refuses options that make no sense") {
  const GoldenFile file = read_golden("blobs");
  const auto refused = [&](const PerceptronOptions& options) {
    return train_perceptron(file.training_data(), options).code() == StatusCode::invalid_argument;
  };
  PerceptronOptions options;
  options.hidden = {};
  CHECK(refused(options));
  options.hidden = {0};
  CHECK(refused(options));
  options.hidden = {8, 8};  // and several members
  CHECK(refused(options));
  options.hidden = {100};  // times 16 members
  CHECK(refused(options));
  options = {};
  options.members = 0;
  CHECK(refused(options));
  options = {};
  options.max_epochs = 0;
  CHECK(refused(options));
  options = {};
  options.validation_share = 1;
  CHECK(refused(options));
}
