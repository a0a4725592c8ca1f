// Packages whose problems are more than dimensions of at least 1: features, and dimensions of 0.
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "tests/unit/launch/problem_kernel.hpp"
#include "tests/unit/package/sealing.hpp"

using namespace idletune;
using idletune::test::opened;
using idletune::test::problem_description;
using idletune::test::problem_package;

namespace {

std::string plan_error(const KernelPackage& package, const Problem& problem) {
  const auto plan = package.plan(problem, package.default_configuration());
  CHECK(plan.code() == StatusCode::invalid_argument);
  return plan.status().message();
}

std::string refusal(const KernelDescription& description) {
  const auto packed = pack(description);
  CHECK(packed.code() == StatusCode::invalid_argument);
  return packed.status().message();
}

}  // namespace

TEST_CASE("a package keeps its features, those that are given first") {
  const auto package = problem_package();
  REQUIRE(package->feature_count() == 4);
  CHECK(package->inputs().given_feature_count() == 2);
  CHECK(package->inputs().feature_name(0) == "mean_row");
  CHECK(package->inputs().feature_name(1) == "layout");
  CHECK(package->inputs().feature_name(2) == "padding");
  CHECK(package->inputs().feature_text(0).empty());
  CHECK(package->inputs().feature_text(2) == "round_up(M, 16) - M");
  CHECK(package->inputs().feature_text(3) == "M over N");
}

TEST_CASE("computed features stand behind the given ones, and are 0 where they have no value") {
  const auto package = problem_package();
  const Problem problem = package->inputs().with_features({{10, 4}, {12.5, 1}});
  CHECK(problem == Problem({10, 4}, {12.5, 1, 6, 2.5}));
  CHECK(package->inputs().problem_text(problem) ==
        "M=10 N=4 mean_row=12.5 layout=transposed padding=6 aspect=2.5");
  CHECK(package->inputs().problem_text({{10, 4}, {12.5, 0}}) ==
        "M=10 N=4 mean_row=12.5 layout=plain");
  CHECK(package->inputs().with_features({{10, 0}, {1, 0}}).feature(3) == 0);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(package->inputs().with_features({{most, 1}, {1, 0}}).feature(2) == 0);
}

TEST_CASE("what is no feature is refused with its name") {
  const auto package = problem_package();
  CHECK(package->plan({{10, 4}, {0, 0}}, package->default_configuration()).ok());
  CHECK(plan_error(*package, {10, 4}) ==
        "kernel 'problem': expected 2 features: mean_row layout, got 0");
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  const std::string finite =
      "kernel 'problem': feature 'mean_row' must be a finite number of at least 0";
  CHECK(plan_error(*package, {{10, 4}, {no_number, 0}}) == finite);
  CHECK(plan_error(*package, {{10, 4}, {std::numeric_limits<double>::infinity(), 0}}) == finite);
  CHECK(plan_error(*package, {{10, 4}, {-1, 0}}) == finite);
  const std::string category =
      "kernel 'problem': feature 'layout' must be a whole number from 0 ('plain') to 1 "
      "('transposed')";
  CHECK(plan_error(*package, {{10, 4}, {1, 2}}) == category);
  CHECK(plan_error(*package, {{10, 4}, {1, 0.5}}) == category);
  CHECK(plan_error(*package, {{10, 4}, {1, 0, 6, 2.5}}) ==
        "kernel 'problem': expected 2 features: mean_row layout, got 4");
}

TEST_CASE("a dimension of 0 is refused but where the package allows it") {
  const auto package = problem_package();
  CHECK(plan_error(*package, {{0, 4}, {1, 0}}) ==
        "kernel 'problem': dimension 'M' must be at least 1, got 0");
  CHECK(plan_error(*package, {{10, -1}, {1, 0}}) ==
        "kernel 'problem': dimension 'N' must be at least 0, got -1");
  const auto plan = package->plan({{10, 0}, {1, 0}}, package->default_configuration());
  CHECK(plan.code() == StatusCode::unsupported);
  CHECK(plan.status().message() == "kernel 'problem': there is no work for this shape");
  CHECK(package->has_no_work({{10, 0}, {1, 0}}));
  CHECK_FALSE(package->has_no_work({{10, 1}, {1, 0}}));
  CHECK_FALSE(package->has_no_work({10, 0}));  // features are missing
  CHECK(*package->buffer_bytes(0, {{10, 0}, {1, 0}}, package->default_configuration()) == 4);
}

TEST_CASE("older readers refuse what they would get wrong, and take the rest") {
  const auto minimum = [](const KernelDescription& description) {
    const auto bytes = pack(description);
    REQUIRE(bytes.ok());
    return kernel_schema::GetKernelPackage(bytes->data())->minimum_agent_version();
  };
  CHECK(minimum(problem_description()) == 2000);
  KernelDescription description = problem_description();
  description.features.erase(description.features.begin() + 1, description.features.begin() + 3);
  REQUIRE(description.features.size() == 2);  // computed ones
  CHECK(minimum(description) == 2000);        // a dimension may be 0
  description.zero_dimensions.clear();
  CHECK(minimum(description) == 1000);
}

TEST_CASE("a given feature is part of what the kernel is, a computed one is not") {
  KernelDescription description = problem_description();
  const std::uint64_t digest = problem_package()->digest();
  for (DescribedFeature& feature : description.features) {
    if (feature.name == "padding") feature.value = "round_up(M, 8) - M";
  }
  CHECK(opened(description)->digest() == digest);
  for (DescribedFeature& feature : description.features) {
    if (feature.name == "mean_row") feature.name = "longest_row";
  }
  CHECK(opened(description)->digest() != digest);
}

TEST_CASE("features that cannot be are refused when packed") {
  KernelDescription description = problem_description();
  description.features[0].name = "M";
  CHECK(refusal(description) == "kernel 'problem': the name 'M' is used twice");
  description = problem_description();
  description.features[0].value = "M + WG";
  CHECK(refusal(description).find("'WG'") != std::string::npos);
  description = problem_description();
  description.features[1].over = "N";
  CHECK(refusal(description) ==
        "kernel 'problem': feature 'mean_row': 'over' divides a 'value', expected one");
  description = problem_description();
  description.features[2].categories = {"only"};
  CHECK(refusal(description) == "kernel 'problem': feature 'layout': expected 2 to 64 categories");
  description.features.resize(9);
  CHECK(refusal(description) == "kernel 'problem': '' is not a C identifier");
  description = problem_description();
  description.zero_dimensions = {"K"};
  CHECK(refusal(description) == "kernel 'problem': 'K' is no dimension");
}
