#include "models/offload/evaluation.hpp"

#include <cmath>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "models/core/random.hpp"
#include "models/offload/new_device.hpp"

using namespace idletune;
using namespace idletune::offload;

namespace {

// Work, a share, and noise; twelve programs in three suites. The GPU needs 1 ms and a hundredth of
// the work, the CPU a tenth of it: it pays from some 11 units of work on.
SampleSet example(std::size_t devices = 1) {
  SampleSet set;
  set.name = "example";
  set.features = {"example", 1, {"ninst", "share", "noise"}};
  Random random(7);
  for (std::size_t d = 0; d < devices; ++d) set.variants.push_back("gpu" + std::to_string(d));
  for (int program = 0; program < 12; ++program) {
    for (int k = 0; k < 8; ++k) {
      Sample sample;
      sample.groups.program = "p" + std::to_string(program);
      sample.groups.suite = "s" + std::to_string(program % 3);
      sample.name = sample.groups.program + " " + std::to_string(k);
      const double work = std::exp(6 * random.uniform());
      const double share = random.uniform();
      sample.features = {work, share, random.uniform()};
      sample.cpu_ms = 0.1 * work;
      for (std::size_t d = 0; d < devices; ++d)
        sample.gpu_ms.push_back((1 + 0.01 * work * (1 + share)) *
                                std::pow(2.0, static_cast<double>(d)));
      set.samples.push_back(std::move(sample));
    }
  }
  return set;
}

PredictorOptions options_of(const std::string& method) {
  PredictorOptions options;
  options.learner.method = method;
  options.learner.models = 20;
  return options;
}

Figures figures_without_programs(const SampleSet& set, const std::string& method) {
  const auto results = leave_out(set, GroupBy::program, 0, options_of(method), nullptr);
  REQUIRE_MESSAGE(results.ok(), results.status().to_string());
  return figures_of(set, *results);
}

}  // namespace

TEST_CASE("groups have names, and an unknown one is refused with them") {
  for (const char* name : {"sample", "kernel", "program", "suite", "network", "kind"})
    CHECK(std::string(group_by_name(*group_by_name(std::string(name)))) == name);
  CHECK(group_by_name(std::string("planet")).status().message() ==
        "no group 'planet' (sample, kernel, program, suite, network, kind)");
}

TEST_CASE("no group is in two parts, and nothing is lost") {
  const SampleSet set = example();
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < set.samples.size(); ++i) rows.push_back(i);
  const auto parts = part_by_group(set, rows, GroupBy::program, 5);
  REQUIRE(parts.size() == 5);
  std::set<std::string> seen;
  std::size_t count = 0;
  for (const auto& part : parts) {
    std::set<std::string> here;
    for (const std::size_t row : part) here.insert(set.samples[row].groups.program);
    for (const std::string& program : here) CHECK(seen.insert(program).second);
    count += part.size();
  }
  CHECK(seen.size() == 12);
  CHECK(count == set.samples.size());
  CHECK(part_by_group(set, rows, GroupBy::suite, 5).size() == 3);
}

TEST_CASE("what follows from the features is predicted for programs that were left out") {
  const SampleSet set = example();
  for (const char* method : {"logarithm", "forest"}) {
    CAPTURE(method);
    const Figures figures = figures_without_programs(set, method);
    CHECK(figures.groups == 12);
    CHECK(figures.samples == 96);
    CHECK(figures.error_median < 0.2);
    CHECK(figures.ratio < 1.05);
    CHECK(figures.always_cpu > 2);
    CHECK(figures.always_gpu > 1);
    CHECK(figures.coverage80 > 0.65);
    CHECK(figures.coverage90 >= figures.coverage80);
    CHECK(figures.unknown < 0.5);
    CHECK(figures.wrong < 0.05);
  }
}

TEST_CASE("a time that is a multiple of the work is what the published form says") {
  SampleSet set = example();
  for (Sample& sample : set.samples)
    sample.gpu_ms = {0.01 * sample.features[0] * (1 + sample.features[1])};
  const Figures figures = figures_without_programs(set, "published");
  CHECK(figures.error_mean < 1e-3);
  CHECK(figures.ratio == 1);
}

TEST_CASE("the published error of who predicts too long is below one") {
  const SampleSet set = example();
  LeftOut one;
  one.prediction.log_speedup =
      std::log(set.samples[0].cpu_ms / (1000 * set.samples[0].best_gpu_ms()));
  const Figures figures = figures_of(set, {one});
  CHECK(std::abs(figures.error_published - 0.999) < 1e-9);
  CHECK(std::abs(figures.error_mean - 999) < 1e-6);
  CHECK(std::abs(figures.error_log - std::log(1000)) < 1e-9);
}

TEST_CASE("a sample unlike all others is too far away") {
  const SampleSet set = example();
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < set.samples.size(); ++i) rows.push_back(i);
  const auto predictor = Predictor::learn(set, rows, options_of("forest"));
  REQUIRE(predictor.ok());
  Sample like = set.samples[3];
  CHECK(predictor->predict(like).distance == 0);
  CHECK(predictor->predict(like).nearest.front().name == like.name);
  like.features[1] = 40;
  CHECK(predictor->predict(like).distance > 1);
  LeftOut one;
  one.prediction = predictor->predict(like);
  CHECK(one.unknown());
}

TEST_CASE("verdicts of which one in twelve was wrong are not given") {
  // The GPU is twice as fast for eleven programs and half as fast for one; no feature tells which.
  SampleSet set = example();
  Random random(5);
  for (Sample& sample : set.samples) {
    const double ratio = sample.groups.program == "p4" ? 2 : 0.5;
    sample.features = {100, random.uniform(), random.uniform()};
    sample.cpu_ms = 10;
    sample.gpu_ms = {10 * ratio};
  }
  const auto results = leave_out(set, GroupBy::program, 0, options_of("forest"), nullptr);
  REQUIRE(results.ok());
  // The 80 % intervals alone would say that the GPU is faster.
  std::size_t above = 0;
  for (const LeftOut& one : *results) above += one.prediction.interval80.low > 0 ? 1 : 0;
  CHECK(above > 48);
  for (const LeftOut& one : *results) {
    if (one.sample / 8 != 4) CHECK(one.unknown());
  }
}

TEST_CASE("verdicts that were right are given, however wide the usual interval is") {
  const SampleSet set = example();
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < set.samples.size(); ++i) rows.push_back(i);
  PredictorOptions options = options_of("forest");
  const auto careful = Predictor::learn(set, rows, options);
  options.wrong_answers = 0;
  const auto never = Predictor::learn(set, rows, options);
  REQUIRE(careful.ok());
  REQUIRE(never.ok());
  const SpeedupPrediction prediction = careful->predict(set.samples[0]);
  CHECK(prediction.level < 0.5);
  CHECK(never->predict(set.samples[0]).level == 1);
  CHECK(prediction.deciding.low <= prediction.deciding.high);
}

TEST_CASE("a forest sees the CPU's time per operation") {
  SampleSet set = example();
  Random random(11);
  for (Sample& sample : set.samples) {
    const double operations = std::exp(12 * random.uniform());
    const bool slow = random.uniform() > 0.5;  // on the CPU: misses its caches, say
    sample.features = {operations, random.uniform(), random.uniform()};
    sample.cpu_ms = operations * (slow ? 3e-3 : 1e-3);
    sample.gpu_ms = {operations * 2e-3};
  }
  CHECK(figures_without_programs(set, "forest").right > 0.98);
}

TEST_CASE("what offloading costs besides moves the break-even") {
  const SampleSet set = example();
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < set.samples.size(); ++i) rows.push_back(i);
  const auto predictor = Predictor::learn(set, rows, options_of("forest"));
  REQUIRE(predictor.ok());
  const Sample* large = &set.samples[0];
  for (const Sample& sample : set.samples) {
    if (sample.cpu_ms > large->cpu_ms) large = &sample;
  }
  const SpeedupPrediction free = predictor->predict(*large);
  CHECK(free.probability > 0.95);
  CHECK(free.regret_offload < free.regret_keep);
  const SpeedupPrediction dear = predictor->predict(*large, 1.5);
  CHECK(dear.probability == 0);
  CHECK(dear.regret_keep == 0);
  CHECK(dear.regret_offload > 0.5);
}

TEST_CASE("the most certain answers are the least often wrong") {
  const SampleSet set = example();
  const auto results = leave_out(set, GroupBy::program, 0, options_of("forest"), nullptr);
  REQUIRE(results.ok());
  const auto curve = risk_curve(set, *results);
  REQUIRE(curve.size() == 20);
  CHECK(curve.back().answered == 1);
  CHECK(curve.front().wrong <= curve.back().wrong);
}

TEST_CASE("an evaluation that is stopped answers what is finished") {
  const SampleSet set = example();
  const auto results = leave_out(set, GroupBy::program, 0, options_of("forest"),
                                 [](std::size_t done, std::size_t) { return done < 2; });
  REQUIRE(results.ok());
  CHECK(results->size() == 16);
}

TEST_CASE("what cannot be evaluated is said") {
  SampleSet set = example();
  for (Sample& sample : set.samples) sample.groups.suite = "one";
  CHECK(leave_out(set, GroupBy::suite, 0, options_of("forest"), nullptr).status().message() ==
        "all samples are of one suite: none can be left out");
  CHECK(leave_out(set, GroupBy::program, 0, options_of("oracle"), nullptr)
            .status()
            .message()
            .find("no learner 'oracle'") == 0);
  set.samples.resize(10);  // two programs; without one of them two samples
  CHECK(leave_out(set, GroupBy::program, 0, options_of("logarithm"), nullptr).code() ==
        StatusCode::invalid_argument);
}

TEST_CASE("a new device is known better the more was measured on it") {
  const SampleSet set = example(4);
  NewDeviceOptions options;
  options.learner.models = 20;
  const auto nothing = evaluate_new_device(set, 3, options);
  options.measured = 5;
  const auto some = evaluate_new_device(set, 3, options);
  REQUIRE(nothing.ok());
  REQUIRE(some.ok());
  // Four times slower than the mean of the others.
  CHECK(nothing->error_log > 1.2);
  CHECK(some->error_log < 0.3);
  CHECK(some->ratio_geometric <= nothing->ratio_geometric);
  CHECK(evaluate_new_device(example(2), 0, options).code() == StatusCode::invalid_argument);
}
