// Packages whose variants are several launches: what is stored, planned and refused.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/required.hpp"
#include "tests/unit/trial/steps_kernel.hpp"

using namespace idletune;
using idletune::fake::steps_description;
using idletune::fake::steps_package;

namespace {

std::string refusal_of_steps(const KernelDescription& description) {
  const auto packed = pack(description);
  CHECK(packed.code() == StatusCode::invalid_argument);
  return packed.status().message();
}

// With a dimension REST that may be 0, behind N.
std::shared_ptr<const KernelPackage> with_rest(const std::string& first_global) {
  KernelDescription description = steps_description();
  description.dimensions.push_back("REST");
  description.zero_dimensions = {"REST"};
  description.steps[0].launch.global = {first_global};
  return required(KernelPackage::open(*pack(description), "test"));
}

}  // namespace

TEST_CASE("a package of several steps keeps them, with arguments and conditions") {
  const auto package = steps_package();
  REQUIRE(package->step_count() == 4);
  CHECK(package->entry() == "square");
  CHECK(package->step(1).entry == "increment");
  const Span<const std::uint8_t> taken = package->step(1).arguments;
  CHECK(std::vector<int>(taken.begin(), taken.end()) == std::vector<int>{2, 3, 4, 0});
  CHECK(package->argument(2).kind == ArgumentKind::scratch);
  CHECK(*package->buffer_bytes(2, {100}, {0, 4}) == 400);
  CHECK(*package->buffer_bytes(2, {5}, {0, 4}) == 4);  // not needed: one element

  const auto large = required(package->plan({100}, {0, 16}));
  REQUIRE(large.steps().size() == 3);
  CHECK(large.steps()[2].index == 2);
  CHECK(large.steps()[2].range.global[0] == 112);
  const auto small = required(package->plan({5}, {0, 16}));
  REQUIRE(small.steps().size() == 1);
  CHECK(small.first().spec.entry == "all");
  const auto reference = required(package->reference().plan({100}));
  CHECK(reference.steps().size() == 1);
  CHECK(reference.first().spec.arguments.size() == 3);  // without the scratch
}

TEST_CASE("another order, condition or argument of steps is another kernel") {
  const std::uint64_t digest = steps_package()->digest();
  const auto digest_of = [](const KernelDescription& description) {
    const auto package = required(KernelPackage::open(*pack(description), "test"));
    return package->digest();
  };
  CHECK(digest_of(steps_description()) == digest);
  KernelDescription other = steps_description();
  std::swap(other.steps[1], other.steps[2]);
  CHECK(digest_of(other) != digest);
  other = steps_description();
  other.steps[3].condition = "N < 9";
  CHECK(digest_of(other) != digest);
  other = steps_description();
  other.steps[1].arguments = {"t", "u", "n"};
  CHECK(digest_of(other) != digest);
  other = steps_description();
  other.arguments[2].size = "N + 1";
  CHECK(digest_of(other) != digest);
}

TEST_CASE("a shape at which no step's condition holds cannot be launched") {
  KernelDescription description = steps_description();
  description.steps.pop_back();
  const auto package = required(KernelPackage::open(*pack(description), "test"));
  CHECK(package->plan({100}, {0, 4}).ok());
  const auto none = package->plan({5}, {0, 4});
  CHECK(none.code() == StatusCode::unsupported);
  CHECK(none.status().message() == "kernel 'steps': no step's condition holds for this shape");
}

TEST_CASE("a step without work is left out where its configuration was put in, too") {
  const auto package = with_rest("round_up(REST, LOCAL)");
  const auto fixed = package->where({0, 4});
  for (const Shape& shape : {Shape{64, 0}, Shape{64, 9}}) {
    const auto plan = required(package->plan(shape, {0, 4}));
    CHECK(required(fixed->plan(shape, {})).steps().size() == plan.steps().size());
    CHECK(plan.steps().size() == (shape[1] == 0 ? 2 : 3));
  }
}

TEST_CASE("a global size of 0 that no dimension of 0 makes is refused with any other dimension") {
  const auto package = with_rest("(N - 64) * LOCAL");
  const auto fixed = package->where({0, 4});
  for (const Shape& shape : {Shape{64, 0}, Shape{64, 9}}) {
    const Status refused = package->plan(shape, {0, 4}).status();
    CHECK(refused.message().find("is 0, expected a positive size") != std::string::npos);
    CHECK(fixed->plan(shape, {}).status().message() == refused.message());
  }
}

TEST_CASE("what is wrong with steps is said of the step") {
  KernelDescription description = steps_description();
  description.steps[1].arguments.push_back("v");
  description.steps[1].where = "steps.xml:12";
  CHECK(refusal_of_steps(description) ==
        "steps.xml:12: step 'increment': there is no argument 'v'");

  description = steps_description();
  description.steps[1].arguments = {"t", "n"};
  description.steps[2].arguments = {"y", "n"};
  CHECK(refusal_of_steps(description) ==
        "kernel 'steps': scratch 'u': expected two steps at least to take it");

  description = steps_description();
  description.steps[0].condition = "M > 8";
  CHECK(refusal_of_steps(description).find("'M'") != std::string::npos);

  description = steps_description();
  description.steps[0].arguments.clear();
  CHECK(refusal_of_steps(description) ==
        "kernel 'steps': step 'square': expected at least one argument");

  description = steps_description();
  while (description.steps.size() <= KernelPackage::kMaxSteps) {
    description.steps.push_back(description.steps[0]);
  }
  CHECK(refusal_of_steps(description) == "kernel 'steps': 25 steps, expected at most 24");

  description = steps_description();
  description.reference.launch = {};
  CHECK(refusal_of_steps(description) ==
        "kernel 'steps': reference: expected global and local sizes of its own");

  description = steps_description();
  description.steps.clear();
  description.entry = "all";
  description.launch.global = {"N"};
  description.launch.local = {"1"};
  CHECK(refusal_of_steps(description) ==
        "kernel 'steps': argument 't': scratch is what several steps share; expected <steps>");
}

TEST_CASE("a size of scratch that no memory has is refused where it is asked for") {
  KernelDescription description = steps_description();
  description.arguments[2].size = "4 - N";
  const auto package = required(KernelPackage::open(*pack(description), "test"));
  CHECK(package->buffer_bytes(2, {100}, {0, 4}).code() == StatusCode::unsupported);
}

TEST_CASE("a package may have more steps than run at any shape, but not run more") {
  KernelDescription description = steps_description();
  const DescribedStep first = description.steps[0];
  for (int i = 0; i < 4; ++i) description.steps.push_back(first);
  description.steps.back().condition = "N >= 50";
  const auto package = required(KernelPackage::open(*pack(description), "test"));
  CHECK(package->step_count() == 8);
  CHECK(package->plan({20}, {0, 4})->steps().size() == 6);
  const auto refused = package->plan({50}, {0, 4});
  CHECK(refused.code() == StatusCode::unsupported);
  CHECK(refused.status().message() == "kernel 'steps': more than 6 steps would run");

  for (DescribedStep& step : description.steps) step.condition = {};
  CHECK(refusal_of_steps(description) ==
        "kernel 'steps': 8 steps that always run, expected at most 6");
}
