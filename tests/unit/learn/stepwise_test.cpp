#include "models/host/learn/stepwise.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/history/recorded_data.hpp"

using namespace idletune;
using namespace idletune::learners;

namespace {

struct OwnedTable {
  std::vector<double> values;
  std::vector<double> targets;
  std::size_t columns = 0;
  NumberTable view() const { return {values, columns, targets}; }
};

OwnedTable table_of(const nlohmann::json& one) {
  OwnedTable table;
  for (const auto& row : one["x"]) {
    table.columns = row.size();
    for (const double value : row) table.values.push_back(value);
  }
  table.targets = one["y"].get<std::vector<double>>();
  return table;
}

nlohmann::json cases() {
  std::ifstream file(test::test_data("offload/stepwise.json"));
  return nlohmann::json::parse(file);
}

std::vector<std::size_t> all_rows(const OwnedTable& table) {
  std::vector<std::size_t> rows(table.targets.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

StepwiseModel fit_all(const OwnedTable& table, const StepwiseOptions& options = {}) {
  REQUIRE(check(table.view()).ok());
  return fit_stepwise(table.view(), all_rows(table), options);
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-8 * (1 + std::abs(b)); }

}  // namespace

TEST_CASE("terms, coefficients and adjusted R² equal those of an independent computation") {
  const nlohmann::json all = cases();
  for (const auto& [name, one] : all.items()) {
    CAPTURE(name);
    const StepwiseModel model = fit_all(table_of(one));
    const auto& expected = one["model"];
    REQUIRE(model.terms.size() == expected["terms"].size());
    CHECK(near(model.constant, expected["constant"]));
    for (std::size_t i = 0; i < model.terms.size(); ++i) {
      CAPTURE(i);
      const StepwiseTerm& term = model.terms[i];
      const auto& pair = expected["terms"][i];
      CHECK(term.feature == pair[0].get<std::uint32_t>());
      CHECK(term.other == (pair.size() == 2 ? pair[1].get<std::uint32_t>() : StepwiseTerm::kNone));
      CHECK(near(term.coefficient, expected["coefficients"][i]));
      CHECK(near(term.adjusted_r2, expected["adjusted_r2"][i]));
    }
  }
}

TEST_CASE("the middle mean of bootstrap models equals that of an independent computation") {
  const nlohmann::json all = cases();
  for (const auto& [name, one] : all.items()) {
    CAPTURE(name);
    const OwnedTable table = table_of(one);
    StepwiseEnsembleOptions options;
    options.models = one["ensemble"]["models"];
    options.seed = one["ensemble"]["seed"];
    const auto ensemble = fit_stepwise_ensemble(table.view(), options);
    REQUIRE(ensemble.ok());
    for (std::size_t i = 0; i < options.models; ++i)
      CHECK(ensemble->models[i].terms.size() == one["ensemble"]["terms"][i]);
    const auto& shares = one["ensemble"]["means"];
    for (const auto& [share, means] : shares.items()) {
      CAPTURE(share);
      for (std::size_t i = 0; i < means.size(); ++i) {
        const auto probe = one["probes"][i].get<std::vector<double>>();
        const double predicted = ensemble->predict(probe, std::stod(share) / 100);
        CHECK(std::abs(predicted - means[i].get<double>()) <=
              1e-6 * (1 + std::abs(means[i].get<double>())));
      }
    }
  }
}

TEST_CASE("constant and collinear features are said and left out") {
  const StepwiseModel model = fit_all(table_of(cases()["spoiled"]));
  CHECK(model.constant_features == std::vector<std::uint32_t>{4});
  REQUIRE(model.collinear_features.size() == 1);
  CHECK((model.collinear_features[0] == 0 || model.collinear_features[0] == 5));
}

TEST_CASE("a feature whose values are huge and nearly the same is no trouble") {
  OwnedTable table;
  table.columns = 2;
  for (int i = 0; i < 20; ++i) {
    table.values.insert(table.values.end(), {1e9 + i, (i * 7) % 5 * 1e-9});
    table.targets.push_back(3.0 * i + (i * 7) % 5);
  }
  const StepwiseModel model = fit_all(table);
  for (std::size_t i = 0; i < table.targets.size(); ++i)
    CHECK(std::abs(model.predict(table.view().row(i)) - table.targets[i]) < 1e-6);
}

TEST_CASE("targets that are all the same are predicted, without a term") {
  OwnedTable table;
  table.columns = 1;
  for (int i = 0; i < 5; ++i) {
    table.values.push_back(i);
    table.targets.push_back(0.1);
  }
  const StepwiseModel model = fit_all(table);
  CHECK(model.terms.empty());
  CHECK(near(model.predict(table.view().row(3)), 0.1));
}

TEST_CASE("a bootstrap sample that is one row many times gives that row's target") {
  const OwnedTable table = table_of(cases()["noisy"]);
  const std::vector<std::size_t> rows(table.targets.size(), 3);
  const StepwiseModel model = fit_stepwise(table.view(), rows, {});
  CHECK(model.terms.empty());
  CHECK(model.constant_features.size() == table.columns);
  CHECK(near(model.predict(table.view().row(0)), table.targets[3]));
}

TEST_CASE("the number of terms has a limit") {
  StepwiseOptions options;
  options.max_terms = 2;
  CHECK(fit_all(table_of(cases()["noisy"]), options).terms.size() == 2);
}

TEST_CASE("tables that nothing can be learned from are refused") {
  OwnedTable table = table_of(cases()["clean"]);
  table.targets[7] = std::numeric_limits<double>::quiet_NaN();
  CHECK(check(table.view()).message() == "the target of row 7 is not a finite number");
  table = table_of(cases()["clean"]);
  table.values[8] = std::numeric_limits<double>::infinity();
  CHECK(check(table.view()).message() == "row 1, feature 3 is not a finite number");
  table = table_of(cases()["clean"]);
  table.values.resize(4 * table.columns);
  table.targets.resize(4);
  CHECK(check(table.view()).message() == "4 rows are fewer than the 5 features");
  table.values.pop_back();
  CHECK(check(table.view()).code() == StatusCode::invalid_argument);
  StepwiseEnsembleOptions none;
  none.models = 0;
  CHECK(fit_stepwise_ensemble(table_of(cases()["clean"]).view(), none).code() ==
        StatusCode::invalid_argument);
}

TEST_CASE("the middle mean leaves out as many values below as above") {
  const std::vector<double> values{-100, 1, 2, 3, 4, 5, 6, 7, 8, 1000};
  CHECK(middle_mean(values, 0) == 4.5);
  CHECK(middle_mean(values, 0.2) == 4.5);
  CHECK(middle_mean(values, 0.6) == (2 + 3 + 4 + 5 + 6 + 7) / 6.0);
  CHECK(middle_mean(values, 1) == (36 - 100 + 1000) / 10.0);
  CHECK(middle_mean({3}, 0.6) == 3);
}
