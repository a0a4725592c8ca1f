#include "agent/host/lab/offload/draws.hpp"

#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "models/core/random.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::offload;

namespace {

// Twelve programs of four samples, three of them derived. The GPU takes a multiple of the work.
SampleSet drawn_example() {
  SampleSet set;
  set.features = {"example", 1, {"ninst", "share"}};
  set.variants = {"gpu"};
  Random random(9);
  for (int i = 0; i < 48; ++i) {
    Sample sample;
    sample.name = std::to_string(i);
    sample.groups.program = "p" + std::to_string(i / 4);
    sample.groups.suite = i % 4 == 0 ? "original" : "derived";
    const double work = std::exp(4 * random.uniform());
    sample.features = {work, random.uniform()};
    sample.cpu_ms = work;
    sample.gpu_ms = {0.1 * work * (1 + sample.features[1])};
    set.samples.push_back(std::move(sample));
  }
  return set;
}

DrawOptions draw_options(const char* method) {
  DrawOptions options;
  options.learner.method = method;
  options.learner.models = 10;
  options.draws = 6;
  options.tests = 5;
  return options;
}

}  // namespace

TEST_CASE("tests are originals of different programs, and what is exact is predicted") {
  const SampleSet set = drawn_example();
  DrawOptions options = draw_options("published");
  options.inclusions = {0.6, 0, 1};
  const auto result = required(evaluate_draws(set, options, nullptr));
  REQUIRE(result.tests.size() == 30);
  for (std::size_t draw = 0; draw < 6; ++draw) {
    std::set<std::string> programs;
    for (std::size_t k = 0; k < 5; ++k) {
      const Sample& sample = set.samples[result.tests[5 * draw + k].sample];
      CHECK(sample.groups.suite == "original");
      programs.insert(sample.groups.program);
    }
    CHECK(programs.size() == 5);
  }
  REQUIRE(result.errors.size() == 3);
  for (const DrawErrors& errors : result.errors) CHECK(errors.worst < 0.01);
}

TEST_CASE("derived samples are drawn where they may be, and draws follow the seed") {
  const SampleSet set = drawn_example();
  DrawOptions options = draw_options("forest");
  options.derived = true;
  const auto result = required(evaluate_draws(set, options, nullptr));
  std::size_t derived = 0;
  for (const DrawTest& test : result.tests)
    derived += set.samples[test.sample].groups.suite == "derived" ? 1 : 0;
  CHECK(derived > 10);
  CHECK(result.errors[0].least <= result.errors[0].mean);
  CHECK(result.errors[0].mean <= result.errors[0].worst);
  const auto again = evaluate_draws(set, options, nullptr);
  CHECK(again->errors[0].mean == result.errors[0].mean);
}

TEST_CASE(
    "a stopped evaluation tells of the draws that were made, and too few groups are refused") {
  const SampleSet set = drawn_example();
  DrawOptions options = draw_options("forest");
  const auto stopped = required(
      evaluate_draws(set, options, [](std::size_t done, std::size_t) { return done < 2; }));
  CHECK(stopped.tests.size() == 10);
  options.tests = 12;
  CHECK(evaluate_draws(set, options, nullptr).status().message() ==
        "12 groups are too few to draw 12 tests of different ones");
}
