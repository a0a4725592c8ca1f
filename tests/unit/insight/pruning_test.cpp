#include <algorithm>

#include <doctest/doctest.h>

#include "models/host/insight/pruning.hpp"
#include "tests/unit/insight/small_history.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using test::product_history;

namespace {

// `a` decides, `b` matters a little, `c` not at all; the best has b = 4.
History three_parameters() {
  return product_history(
      {{"a", {1, 2, 3, 4}}, {"b", {1, 2, 3, 4}}, {"c", {0, 1}}, {"fixed", {7}}},
      [](const auto& v) { return static_cast<double>(100 * v[0] + 60 * (4 - v[1]) + v[2]); });
}

std::vector<std::string> names(const Pruning& pruning) {
  std::vector<std::string> result;
  for (const PrunedParameter& p : pruning.pruned) result.push_back(p.name + "=" + p.value);
  return result;
}

}  // namespace

TEST_CASE("methods have the paper's names") {
  for (const char* name : {"naive", "aggressive", "conservative"}) {
    REQUIRE(pruning_method_from_name(name).has_value());
    CHECK(std::string(pruning_method_name(*pruning_method_from_name(name))) == name);
  }
  CHECK_FALSE(pruning_method_from_name("timid").has_value());
}

TEST_CASE("naive pruning pins whatever says little, to the lower of two medians") {
  const auto pruning = required(prune(three_parameters(), PruningMethod::naive));
  CHECK(names(pruning) == std::vector<std::string>{"c=0", "b=2"});
  CHECK(pruning.kept == std::vector<std::string>{"a"});
  CHECK(pruning.constant == std::vector<std::string>{"fixed"});
  CHECK(pruning.configurations == 32);
  CHECK(pruning.remaining == 4);
  CHECK(pruning.reduction() == 8);
  // 100 against 100 + 60 * 2: the performance is lost even where the parameters were chosen.
  CHECK(retention_on(pruning, three_parameters())->value == doctest::Approx(100.0 / 220));
}

TEST_CASE("aggressive pruning stops at the first parameter that would cost too much") {
  const auto pruning = required(prune(three_parameters(), PruningMethod::aggressive));
  CHECK(names(pruning) == std::vector<std::string>{"c=0"});
  CHECK(retention_on(pruning, three_parameters())->value == 1);
  PruningOptions all;
  all.retention = 0;
  CHECK(prune(three_parameters(), PruningMethod::aggressive, all)->kept.empty());
  CHECK(prune(three_parameters(), PruningMethod::aggressive, all)->remaining == 1);
}

TEST_CASE("conservative pruning prunes what both others do") {
  // `c`, `d` and `e` say little, `b` more; the last of the three matters for the best.
  const History h = product_history(
      {{"a", {1, 2, 3, 4}}, {"b", {1, 2, 3}}, {"c", {0, 1}}, {"d", {0, 1, 2}}, {"e", {0, 1, 2}}},
      [](const auto& v) {
        const double e = v[0] == 1 && v[4] != 2 ? 60 : 0;
        return 100.0 * static_cast<double>(v[0]) + 90.0 * static_cast<double>(3 - v[1]) +
               static_cast<double>(v[2] + v[3]) + e;
      });
  for (const double share : {0.0, 0.1, 0.2, 0.5, 0.9, 1.0}) {
    for (const double retention : {0.0, 0.5, 0.7, 0.9, 1.0}) {
      PruningOptions options;
      options.information_share = share;
      options.retention = retention;
      const auto naive = prune(h, PruningMethod::naive, options);
      const auto aggressive = prune(h, PruningMethod::aggressive, options);
      const auto conservative = prune(h, PruningMethod::conservative, options);
      CHECK(conservative->pruned.size() ==
            std::min(naive->pruned.size(), aggressive->pruned.size()));
      for (std::size_t i = 0; i < conservative->pruned.size(); ++i) {
        CHECK(conservative->pruned[i].name == naive->pruned[i].name);
        CHECK(conservative->pruned[i].name == aggressive->pruned[i].name);
      }
      CHECK(retention_on(*conservative, h)->value >= retention);
    }
  }
}

TEST_CASE(
    "a median that would leave nothing gives way to the nearest value that leaves something") {
  // b = 2 is in the middle, but where c = 0 only b = 3 and b = 5 are valid.
  const History h =
      product_history({{"a", {1, 2, 4, 8}}, {"b", {1, 2, 3, 5}}, {"c", {0, 1}}}, [](const auto& v) {
        if (v[2] == 0 && v[1] < 3) return -1.0;
        return 100.0 * static_cast<double>(v[0]) + 0.01 * static_cast<double>(v[1]);
      });
  const auto pruning = required(prune(h, PruningMethod::naive));
  REQUIRE(pruning.pruned.size() == 2);
  for (const PrunedParameter& p : pruning.pruned) {
    if (p.name == "b") CHECK(p.value == (p.at_median ? "2" : "3"));
  }
  CHECK(pruning.remaining == 4);
}

TEST_CASE("texts have no median: the most frequent value is taken") {
  History h;
  h.kernel = "k";
  h.device = "d";
  h.parameters.emplace_back("layout");
  h.parameters.emplace_back("size");
  const char* layouts[] = {"row", "tiled", "tiled", "column", "tiled", "row"};
  for (int i = 0; i < 6; ++i) {
    h.parameters[0].push_text(layouts[i]);
    h.parameters[1].push_integer(i);
    h.status.push_back(TrialStatus::correct);
    h.run_time.push_back(1);
    h.compile_time.push_back(1);
    h.sample_count.push_back(0);
  }
  PruningOptions all;
  all.retention = 0;
  const auto pruning = required(prune(h, PruningMethod::aggressive, all));
  CHECK(names(pruning) == std::vector<std::string>{"layout=tiled", "size=2"});
}

TEST_CASE("other devices keep what their rows with the pinned values keep") {
  const auto pruning = required(prune(three_parameters(), PruningMethod::naive));
  History other = three_parameters();
  other.device = "other";
  for (std::size_t row = 0; row < other.rows(); ++row) {
    if (other.parameters[1].integer(row) == 2) other.status[row] = TrialStatus::runtime;
  }
  const auto kept = required(retention_on(pruning, other));
  CHECK(kept.device == "other");
  CHECK(kept.value == 0);
  CHECK(kept.remaining == 4);
  other.parameters.erase(other.parameters.begin() + 1);
  const auto missing = retention_on(pruning, other);
  CHECK(missing.status().code() == StatusCode::invalid_argument);
  CHECK(missing.status().message().find("'b'") != std::string::npos);
}

TEST_CASE("the pruned history has the rows with the pinned values and nothing else") {
  const auto pruning = required(prune(three_parameters(), PruningMethod::naive));
  const auto left = required(pruned_history(pruning, three_parameters()));
  REQUIRE(left.rows() == 4);
  for (std::size_t row = 0; row < left.rows(); ++row) {
    CHECK(left.parameters[1].integer(row) == 2);
    CHECK(left.parameters[2].integer(row) == 0);
    CHECK(left.run_time[row] == 100.0 * static_cast<double>(left.parameters[0].integer(row)) + 120);
  }
}

TEST_CASE("a history in which nothing ran cannot be pruned") {
  const History h = product_history({{"a", {1, 2}}}, [](const auto&) { return 0.0; });
  CHECK(prune(h, PruningMethod::naive).status().code() == StatusCode::invalid_argument);
}
