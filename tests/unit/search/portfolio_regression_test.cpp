#include <cmath>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "agent/search/portfolio_regression.hpp"
#include "tests/unit/predict/model_builder.hpp"

using namespace idletune;
using test::ModelContent;

namespace {

constexpr std::size_t kEntries = 12;

std::shared_ptr<const Model> open(const ModelContent& content) {
  auto model = Model::open(test::build_model(content), "test");
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  return *model;
}

// The portfolio of tests/data/learners/make_portfolio_regression.py.
std::shared_ptr<const Model> recorded() {
  ModelContent content;
  content.parameters = {"a", "b", "c"};
  content.sources = std::vector<test::SourceContent>(3);
  for (int d = 0; d < 3; ++d) content.sources[static_cast<std::size_t>(d)].shape = {d + 1};
  for (int i = 0; i < static_cast<int>(kEntries); ++i) {
    for (const int value : {1 << (i % 4), 10 * (i * 5 % 3), 7}) {
      content.portfolio_values.push_back(value);
    }
    for (int d = 0; d < 3; ++d) {
      float q = static_cast<float>(100 - 7 * ((i * (3 + 2 * d) + d) % 12)) / 100.0f;
      if (i == 9 || (i == 4 && d == 1)) q = -1;
      if (i == 7 && d == 2) q = 0;
      content.portfolio_relative.push_back(q);
    }
    content.portfolio_score.push_back(0.5f);
  }
  return open(content);
}

PortfolioRegression regression_of(const Model& model) {
  return PortfolioRegression(model.kernels()[0], {0.5, 0.3, 0.2}, kEntries);
}

}  // namespace

TEST_CASE("predictions are those of one Gaussian conditioned on all measurements at once") {
  const auto model = recorded();
  PortfolioRegression regression = regression_of(*model);
  // All recorded numbers: tests/data/learners/make_portfolio_regression.py (NumPy).
  const std::vector<double> expected{0.045435, 0.364772, 0.549174, 0.600458, 0.073050, 0.169091,
                                     0.618123, 0.293045, 0.147119, 0.693147, 0.246254, 0.844281};
  for (std::size_t i = 0; i < kEntries; ++i) {
    CHECK(-regression.expected(i) == doctest::Approx(expected[i]).epsilon(1e-5));
    CHECK(regression.value(i) == doctest::Approx(-expected[i]).epsilon(1e-5));
  }
  regression.tell(0, 1.0e6);
  regression.tell_failed(5);
  regression.tell(3, 0.8e6);
  regression.tell(7, 2.9e6);
  regression.tell(9, 1.1e6);
  const std::vector<double> mean{13.750491, 14.441658, 15.957877, 13.647458, 14.199547, 14.101821,
                                 14.014906, 14.024464, 14.452843, 14.139307, 14.480554, 14.754122};
  const std::vector<double> deviation{0.069014, 0.365025, 0.651285, 0.069458, 0.226547, 0.136405,
                                      0.161355, 0.155235, 0.507933, 0.081904, 0.318506, 0.233558};
  const std::vector<double> value{0.000067, 0.000967, 0.000018, 0.003701, 0.000165, 0.000001,
                                  0.000121, 0.000064, 0.008152, 0.000000, 0.000183, 0.000000};
  for (std::size_t i = 0; i < kEntries; ++i) {
    CAPTURE(i);
    const PortfolioRegression::Prediction prediction = regression.predict(i);
    CHECK(std::fabs(prediction.mean - mean[i]) < 2e-4);
    CHECK(std::fabs(prediction.deviation - deviation[i]) < 2e-4);
    CHECK(std::fabs(regression.value(i) - value[i]) < 2e-5);
  }
}

TEST_CASE("a failure before the first time counts as soon as there is a scale") {
  const auto model = recorded();
  PortfolioRegression early = regression_of(*model);
  PortfolioRegression late = regression_of(*model);
  early.tell_failed(5);
  CHECK_FALSE(early.has_measurement());
  CHECK(early.value(5) == late.value(5));
  early.tell(0, 1e6);
  late.tell(0, 1e6);
  CHECK(late.predict(5).mean < early.predict(5).mean);
  late.tell_failed(5);
  for (std::size_t i = 0; i < kEntries; ++i) {
    CHECK(early.predict(i).mean == late.predict(i).mean);
    CHECK(early.predict(i).deviation == late.predict(i).deviation);
  }
}

TEST_CASE("entries beyond the portfolio and times of nothing are ignored") {
  const auto model = recorded();
  PortfolioRegression regression = regression_of(*model);
  regression.tell(kEntries, 1e6);
  regression.tell(0, 0);
  regression.tell(0, std::nan(""));
  regression.tell_failed(kEntries);
  CHECK_FALSE(regression.has_measurement());
}

TEST_CASE("many sources, parameters and values stay within the bound on memory") {
  ModelContent content;
  content.parameters.clear();
  for (int p = 0; p < 32; ++p) content.parameters.push_back("p" + std::to_string(p));
  content.sources = std::vector<test::SourceContent>(40);
  for (int d = 0; d < 40; ++d) content.sources[static_cast<std::size_t>(d)].shape = {d + 1};
  for (int i = 0; i < 200; ++i) {
    for (int p = 0; p < 32; ++p) content.portfolio_values.push_back(i * (p + 1) % 97);
    for (int d = 0; d < 40; ++d) {
      content.portfolio_relative.push_back(static_cast<float>(i * (d + 3) % 101) / 100.0f);
    }
    content.portfolio_score.push_back(0.5f);
  }
  const auto model = open(content);
  std::vector<double> weights;
  for (int d = 0; d < 40; ++d) weights.push_back(1.0 + d % 7);
  PortfolioRegression regression(model->kernels()[0], weights, 200);
  for (std::size_t i = 0; i < 200; ++i)
    regression.tell(i, 1e6 * (1.0 + static_cast<double>(i % 9)));
  CHECK(regression.bytes() < 128 * 1024);
  for (std::size_t i = 0; i < 200; ++i) {
    CHECK(std::isfinite(regression.predict(i).mean));
    CHECK(regression.predict(i).deviation > 0);
  }
}

TEST_CASE("of published configurations alone there is nothing to value") {
  ModelContent content;
  content.with_sources = false;
  content.sources.clear();
  content.published.push_back({"Board", {1, 2}, 1});
  const auto model = open(content);
  REQUIRE(model->kernels()[0].source_count() == 0);
  PortfolioRegression regression(model->kernels()[0], {}, 8);
  regression.tell(0, 1e6);
  CHECK_FALSE(regression.has_measurement());
}
