#include "tests/unit/insight/golden.hpp"

#include <map>

using namespace idletune;

namespace {

// Compares every file that the golden names with what is computed from it; each is read once.
void check_all(const nlohmann::json& expected, const std::string& folder) {
  std::map<std::string, History> histories;
  const auto history_of = [&](const std::string& file) -> const History& {
    const auto known = histories.find(file);
    if (known != histories.end()) return known->second;
    return histories.emplace(file, test::history_in(folder + "/" + file)).first->second;
  };
  for (const auto& one : expected) {
    const std::string file = one["file"];
    CAPTURE(file);
    const History& history = history_of(file);
    test::check_fractions(one, history);
    test::check_information(one, history);
    test::check_pruning(one, history, history_of);
  }
}

}  // namespace

TEST_CASE("fractions, information and pruning of our own caches equal an independent computation") {
  const nlohmann::json expected = test::golden("own.json");
  REQUIRE(expected.size() == 3);
  check_all(expected, test::test_data("insight"));
}

TEST_CASE(
    "fractions, information and pruning of all recorded spaces equal an independent computation" *
    doctest::test_suite("recorded data")) {
  if (test::recorded_caches("kernel_tuner").empty()) {
    return test::skip(test::kNoRecordedData);
  }
  const nlohmann::json expected = test::golden("recorded.json");
  CHECK(expected.size() == 17 + 45 + 2 + 6);
  check_all(expected, std::string(std::getenv("IDLETUNE_SHARED")) + "/data/tuning");
}
