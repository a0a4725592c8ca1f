#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/core/version.hpp"

using namespace idletune;

TEST_CASE("a result holds a value or a failure and survives moves") {
  Result<std::unique_ptr<int>> good(std::make_unique<int>(5));
  REQUIRE(good.ok());
  Result<std::unique_ptr<int>> moved(std::move(good));
  CHECK(**moved == 5);
  Result<std::unique_ptr<int>> bad(StatusCode::not_found, "no such thing");
  CHECK_FALSE(bad.ok());
  CHECK(bad.code() == StatusCode::not_found);
  moved = std::move(bad);
  CHECK_FALSE(moved.ok());
  CHECK(moved.status().to_string() == "not_found: no such thing");
  moved = Result<std::unique_ptr<int>>(std::make_unique<int>(6));
  CHECK(**moved == 6);
  CHECK(moved.status().ok());
}

TEST_CASE("every status code has a name of its own") {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(StatusCode::untrusted); ++i) {
    names.emplace_back(status_code_name(static_cast<StatusCode>(i)));
    for (std::size_t j = 0; j + 1 < names.size(); ++j) CHECK(names[j] != names.back());
    CHECK(names.back() != "unknown");
  }
  CHECK(Status().to_string() == "ok");
}

TEST_CASE("trial statuses have the names of the T4 format") {
  const char* expected[] = {"correct", "compile",     "runtime", "correctness",
                            "timeout", "constraints", "crash"};
  for (std::size_t i = 0; i < kTrialStatusCount; ++i) {
    CHECK(std::string(trial_status_name(static_cast<TrialStatus>(i))) == expected[i]);
  }
  CHECK(std::string(trial_status_name(static_cast<TrialStatus>(99))) == "unknown");
}

TEST_CASE("a shape says when it was given too many dimensions") {
  Shape shape{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(shape.size() == 8);
  CHECK_FALSE(shape.overflow());
  const Shape eight = shape;
  shape.push_back(9);
  CHECK(shape.size() == 8);
  CHECK(shape.overflow());
  CHECK(shape != eight);
  CHECK(Shape{1, 2} != Shape{1, 2, 3});
  CHECK(Shape{1, 2} == Shape{1, 2});
}

TEST_CASE("a problem has features behind its dimensions") {
  Problem problem({1, 2}, {0.5, -0.0});
  CHECK(problem.size() == 2);
  CHECK(problem.feature_count() == 2);
  CHECK(problem.feature(0) == 0.5);
  CHECK(problem.input(1) == 2);
  CHECK(problem.input(2) == 0.5);
  CHECK(problem == Problem({1, 2}, {0.5, 0.0}));
  CHECK(problem != Problem({1, 2}, {0.5}));
  CHECK(problem != Problem({1, 2}, {0.25, 0}));
  CHECK(problem != Problem({1, 2}));
  problem.push_back(3);  // too late
  CHECK(problem.overflow());
  Problem full;
  for (int i = 0; i < 9; ++i) full.push_feature(i);
  CHECK(full.feature_count() == kMaxFeatures);
  CHECK(full.overflow());
}

TEST_CASE("a configuration keeps at most 32 values") {
  Configuration configuration;
  CHECK(configuration.empty());
  for (int i = 0; i < 40; ++i) configuration.push_back(i);
  CHECK(configuration.size() == kMaxParameters);
  CHECK(configuration[31] == 31);
  CHECK(Configuration{1, 2} == Configuration{1, 2});
  CHECK(Configuration{1, 2} != Configuration{1});
}

TEST_CASE("parts of a span are clipped to what is there") {
  const std::vector<int> numbers{1, 2, 3, 4};
  const Span<const int> span(numbers);
  CHECK(span.subspan(1, 2).size() == 2);
  CHECK(span.subspan(1, 2)[0] == 2);
  CHECK(span.subspan(3, 100).size() == 1);
  CHECK(span.subspan(100).empty());
  CHECK(Span<const int>().empty());
}

TEST_CASE("versions compare as numbers") {
  CHECK(version_number("1.2.3") == 1002003);
  CHECK(version_number("0.10") == 10000);
  CHECK(version_number("2") == 2000000);
  CHECK(version_number("") == 0);
  CHECK(kAgentVersion == version_number(IDLETUNE_VERSION));
}
