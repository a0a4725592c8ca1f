#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/host/learners/perceptron.hpp"

using namespace idletune;
using namespace idletune::learners;

namespace {

// Two inputs, two hidden neurons, one output.
Perceptron perceptron_regression() {
  Perceptron perceptron;
  perceptron.columns.resize(2);
  perceptron.layers = {2, 1};
  perceptron.weights = {1, 2, 3, -1, 0.5f, 0, 2, -4, 0.25f};
  perceptron.offset = 10;
  perceptron.factor = 2;
  return perceptron;
}

void check_perceptron_refused(const Perceptron& perceptron, const std::string& text) {
  const Status status = verify(perceptron.view());
  CAPTURE(status.message());
  CHECK(status.code() == StatusCode::corrupt);
  CHECK(status.message().find(text) != std::string::npos);
}

}  // namespace

TEST_CASE("a perceptron passes sums through tanh and scales its output") {
  const Perceptron perceptron = perceptron_regression();
  REQUIRE(verify(perceptron.view()).ok());
  const std::vector<float> row{0.5f, -1};
  const double first = std::tanh(0.5 - 2 + 3), second = std::tanh(-0.5 - 0.5);
  CHECK(perceptron.view().predict(row) ==
        doctest::Approx(10 + 2 * (2 * first - 4 * second + 0.25)));
}

TEST_CASE("a perceptron of classes answers the largest output's, the lowest among equals") {
  Perceptron perceptron;
  perceptron.columns.resize(1);
  perceptron.layers = {3};
  perceptron.weights = {0, 1, 1, 0, 0, 1};  // outputs 1, x, 1
  perceptron.classes = 3;
  REQUIRE(verify(perceptron.view()).ok());
  CHECK(perceptron.view().predict(std::vector<float>{5}) == 1);
  CHECK(perceptron.view().predict(std::vector<float>{-5}) == 0);
}

TEST_CASE("the widest perceptron that is allowed fits the buffers") {
  Perceptron perceptron;
  perceptron.columns = {{0, 1, kMaxInputs}};
  perceptron.layers = {kMaxLayerWidth, kMaxLayerWidth, 1};
  perceptron.weights.assign(kMaxLayerWidth * (kMaxInputs + 1) +
                                kMaxLayerWidth * (kMaxLayerWidth + 1) + kMaxLayerWidth + 1,
                            0.001f);
  REQUIRE(verify(perceptron.view()).ok());
  CHECK(std::isfinite(perceptron.view().predict(std::vector<float>{5})));
}

TEST_CASE("perceptrons that are not sound are refused") {
  Perceptron perceptron = perceptron_regression();
  perceptron.columns.clear();
  check_perceptron_refused(perceptron, "input columns");
  perceptron = perceptron_regression();
  perceptron.layers.clear();
  check_perceptron_refused(perceptron, "number of layers");
  perceptron.layers.assign(kMaxLayers + 1, 1);
  check_perceptron_refused(perceptron, "number of layers");
  for (const std::uint32_t width : {0u, 1025u, 0xffffffffu}) {
    perceptron = perceptron_regression();
    perceptron.layers[0] = width;
    check_perceptron_refused(perceptron, "layer's width");
  }
  perceptron = perceptron_regression();
  perceptron.layers = {2, 2};
  check_perceptron_refused(perceptron, "number of outputs");
  perceptron = perceptron_regression();
  perceptron.classes = 2;
  check_perceptron_refused(perceptron, "number of outputs");
  perceptron = perceptron_regression();
  perceptron.weights.pop_back();
  check_perceptron_refused(perceptron, "number of weights");
  perceptron = perceptron_regression();
  perceptron.weights[3] = std::numeric_limits<float>::quiet_NaN();
  check_perceptron_refused(perceptron, "not finite");
  perceptron = perceptron_regression();
  perceptron.factor = std::numeric_limits<float>::infinity();
  check_perceptron_refused(perceptron, "scale");
}
