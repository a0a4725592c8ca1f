// Comparing with what tests/data/insight/reference.py computed.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/host/history/import.hpp"
#include "models/host/insight/fractions.hpp"
#include "models/host/insight/importance.hpp"
#include "models/host/insight/pruning.hpp"
#include "models/host/insight/steps.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

namespace idletune::test {

inline nlohmann::json golden(const std::string& name) {
  std::ifstream file(test_data("insight/" + name));
  return nlohmann::json::parse(file);
}

inline History history_in(const std::string& path) {
  auto imported = required(import_histories(read_bytes(path), path));
  REQUIRE(imported.size() == 1);
  return std::move(imported.front());
}

inline void check_fractions(const nlohmann::json& expected, const History& history) {
  const PerformanceDistribution d = distribution_of(history);
  CHECK(d.valid == expected["valid"]);
  for (const auto& f : expected["fractions"]) {
    const double r = f[0];
    CHECK(d.fraction(r) == f[1].get<double>());
    const auto steps = random_search_steps(d.fraction(r), 0.95);
    const auto without = random_search_steps_without_repetition(d.valid, d.count_at_least(r), 0.95);
    CHECK(steps.has_value() == !f[2].is_null());
    CHECK(without.has_value() == !f[3].is_null());
    if (steps && !f[2].is_null()) CHECK(*steps == f[2].get<std::uint64_t>());
    if (without && !f[3].is_null()) CHECK(*without == f[3].get<std::uint64_t>());
  }
}

inline void check_information(const nlohmann::json& expected, const History& history) {
  const Importance importance = importance_of(history);
  CHECK(importance.parameters.size() == expected["information"].size());
  double furthest = 0;
  for (const ParameterImportance& p : importance.parameters) {
    CAPTURE(p.name);
    REQUIRE(expected["information"].contains(p.name));
    const auto& values = expected["information"][p.name];
    const double computed[] = {p.information, p.corrected, p.failure_information};
    for (std::size_t i = 0; i < 3; ++i) {
      furthest = std::max(furthest, std::abs(computed[i] - values[i].get<double>()));
    }
  }
  CHECK(furthest < 1e-9);
}

inline std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// `other` gives the history of a file that the golden names.
template <typename HistoryOf>
void check_pruning(const nlohmann::json& expected, const History& history, HistoryOf other) {
  for (const auto& [name, golden_pruning] : expected["pruning"].items()) {
    CAPTURE(name);
    const auto method = required(pruning_method_from_name(name));
    const auto pruning = required(prune(history, method));
    CHECK(pruning.configurations == expected["valid"]);
    CHECK(pruning.remaining == golden_pruning["remaining"]);
    CHECK(pruning.pruned.size() == golden_pruning["pins"].size());
    for (const PrunedParameter& p : pruning.pruned) {
      CAPTURE(p.name);
      REQUIRE(golden_pruning["pins"].contains(p.name));
      CHECK(p.value == text_of(golden_pruning["pins"][p.name]));
    }
    for (const auto& [file, value] : golden_pruning["retention"].items()) {
      CAPTURE(file);
      const auto kept = required(retention_on(pruning, other(file)));
      const double expected_value = value;
      CHECK(kept.value == expected_value);
    }
  }
}

}  // namespace idletune::test
