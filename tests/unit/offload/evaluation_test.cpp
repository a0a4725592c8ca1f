#include "agent/host/lab/offload/evaluation.hpp"

#include <cmath>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "agent/host/lab/offload/new_device.hpp"
#include "models/core/random.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::offload;

namespace {

// Work, a share, and noise; programs in three suites. The GPU needs 1 ms and a hundredth of
// the work, the CPU a tenth of it: it pays from some 11 units of work on.
SampleSet evaluated_example(std::size_t devices = 1, int programs = 12) {
  SampleSet set;
  set.name = "example";
  set.features = {"example", 1, {"ninst", "share", "noise"}};
  Random random(7);
  for (std::size_t d = 0; d < devices; ++d) set.variants.push_back("gpu" + std::to_string(d));
  for (int program = 0; program < programs; ++program) {
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
  const auto results = required(leave_out(set, GroupBy::program, 0, options_of(method), nullptr));
  return figures_of(set, results);
}

// `groups` programs of `each` samples: programs differ by N(0, 1), samples of one by a fifth of
// that, and no feature says anything. The last program is to be asked about.
SampleSet exchangeable(std::size_t groups, std::size_t each, std::uint64_t seed) {
  SampleSet set;
  set.features = {"example", 1, {"a", "b"}};
  set.variants = {"gpu"};
  Random random(seed);
  const auto normal = [&random] {
    return std::sqrt(-2 * std::log(1 - random.uniform())) *
           std::cos(6.283185307179586 * random.uniform());
  };
  for (std::size_t g = 0; g <= groups; ++g) {
    const double effect = normal();
    for (std::size_t k = 0; k < each; ++k) {
      Sample sample;
      sample.groups.program = "p" + std::to_string(g);
      sample.name = sample.groups.program + " " + std::to_string(k);
      sample.features = {random.uniform(), random.uniform()};
      sample.cpu_ms = 1;
      sample.gpu_ms = {std::exp(-effect - 0.2 * normal())};
      set.samples.push_back(std::move(sample));
    }
  }
  return set;
}

}  // namespace

TEST_CASE("intervals hold what they say for a further group, and are infinite with too few") {
  for (const std::size_t groups : {3, 5, 8, 12}) {
    CAPTURE(groups);
    constexpr std::size_t kRepeats = 120;
    constexpr std::size_t kEach = 5;
    double held80 = 0, held90 = 0, infinite80 = 0, infinite90 = 0;
    for (std::size_t repeat = 0; repeat < kRepeats; ++repeat) {
      const SampleSet set = exchangeable(groups, kEach, 1000 * groups + repeat);
      std::vector<std::size_t> rows(groups * kEach);
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
      PredictorOptions options = options_of("forest");
      options.learner.models = 5;
      options.folds = groups;
      const auto predictor = required(Predictor::learn(set, rows, options));
      for (std::size_t i = rows.size(); i < set.samples.size(); ++i) {
        const SpeedupPrediction prediction = predictor.predict(set.samples[i]);
        const double truth = -std::log(set.samples[i].gpu_ms[0]);
        const auto holds = [&](const LogInterval& interval) {
          return truth >= interval.low && truth <= interval.high ? 1.0 : 0.0;
        };
        held80 += holds(prediction.interval80) / (kRepeats * kEach);
        held90 += holds(prediction.interval90) / (kRepeats * kEach);
        infinite80 += std::isinf(prediction.interval80.high) ? 1 : 0;
        infinite90 += std::isinf(prediction.interval90.low) ? 1 : 0;
        CHECK(std::isinf(prediction.deciding.high));  // 5 % wrong cannot be promised
      }
    }
    // 120 groups: standard errors of 0.04 and 0.03.
    CHECK(held80 > 0.73);
    CHECK(held90 > 0.84);
    CHECK((infinite80 > 0) == (groups < 4));
    CHECK((infinite90 > 0) == (groups < 9));
  }
}

TEST_CASE("a feature that never varied does not make another value astronomically far") {
  SampleSet set = evaluated_example();
  for (std::size_t i = 0; i < set.samples.size(); ++i) {
    // As the profiler has it: equal but for the last bits.
    set.samples[i].features[1] = 0.7 + 1.1e-16 * static_cast<double>(i % 3);
  }
  const auto predictor = required(Predictor::learn(set, options_of("forest")));
  Sample like = set.samples[3];
  like.features[1] = 0.706;
  const double away = predictor.predict(like).distance * predictor.distance_limit();
  CHECK(away == doctest::Approx(1 / std::sqrt(3.0)).epsilon(1e-9));
}

TEST_CASE("a sample without a time on one device is left out there, and nowhere else") {
  const SampleSet whole = evaluated_example(4);
  NewDeviceOptions options;
  options.learner.models = 20;
  options.measured = 5;
  SampleSet set = whole;
  set.samples[10].gpu_ms[2] = std::nan("");
  for (std::size_t device = 0; device < 4; ++device) {
    const auto result = required(evaluate_new_device(set, device, options));
    CHECK(result.left_out == (device == 2 ? 1 : 0));
    CHECK(result.error_log ==
          doctest::Approx(evaluate_new_device(whole, device, options)->error_log).epsilon(0.2));
  }
  // As if it had never been there.
  SampleSet without = whole;
  without.samples.erase(without.samples.begin() + 10);
  CHECK(evaluate_new_device(set, 2, options)->error_log ==
        evaluate_new_device(without, 2, options)->error_log);
  for (std::size_t d = 0; d < 4; ++d) set.samples[20].gpu_ms[d] = d == 1 ? 5 : std::nan("");
  CHECK(evaluate_new_device(set, 1, options)->left_out == 1);
}

TEST_CASE("groups have names, and an unknown one is refused with them") {
  for (const char* name : {"sample", "kernel", "program", "suite", "network", "kind"})
    CHECK(std::string(group_by_name(*group_by_name(std::string(name)))) == name);
  CHECK(group_by_name(std::string("planet")).status().message() ==
        "no group 'planet' (sample, kernel, program, suite, network, kind)");
}

TEST_CASE("no group is in two parts, and nothing is lost") {
  const SampleSet set = evaluated_example();
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
  const SampleSet set = evaluated_example(1, 24);
  for (const char* method : {"logarithm", "forest"}) {
    CAPTURE(method);
    const Figures figures = figures_without_programs(set, method);
    CHECK(figures.groups == 24);
    CHECK(figures.samples == 192);
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
  SampleSet set = evaluated_example();
  for (Sample& sample : set.samples)
    sample.gpu_ms = {0.01 * sample.features[0] * (1 + sample.features[1])};
  const Figures figures = figures_without_programs(set, "published");
  CHECK(figures.error_mean < 1e-3);
  CHECK(figures.ratio == 1);
}

TEST_CASE("the published error of who predicts too long is below one") {
  const SampleSet set = evaluated_example();
  LeftOut one;
  one.prediction.log_speedup =
      std::log(set.samples[0].cpu_ms / (1000 * set.samples[0].best_gpu_ms()));
  const Figures figures = figures_of(set, {one});
  CHECK(std::abs(figures.error_published - 0.999) < 1e-9);
  CHECK(std::abs(figures.error_mean - 999) < 1e-6);
  CHECK(std::abs(figures.error_log - std::log(1000)) < 1e-9);
}

TEST_CASE("a sample unlike all others is too far away") {
  const SampleSet set = evaluated_example();
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < set.samples.size(); ++i) rows.push_back(i);
  const auto predictor = required(Predictor::learn(set, rows, options_of("forest")));
  Sample like = set.samples[3];
  CHECK(predictor.predict(like).distance == 0);
  CHECK(predictor.predict(like).nearest.front().name == like.name);
  like.features[1] = 40;
  CHECK(predictor.predict(like).distance > 1);
  LeftOut one;
  one.prediction = predictor.predict(like);
  CHECK(one.unknown());
}

TEST_CASE("verdicts of which one in twelve was wrong are not given") {
  // The GPU is twice as fast for eleven programs in twelve and half as fast for one; no feature
  // tells which.
  SampleSet set = evaluated_example(1, 24);
  Random random(5);
  for (Sample& sample : set.samples) {
    const bool slow = sample.groups.program == "p4" || sample.groups.program == "p16";
    const double ratio = slow ? 2 : 0.5;
    sample.features = {100, random.uniform(), random.uniform()};
    sample.cpu_ms = 10;
    sample.gpu_ms = {10 * ratio};
  }
  const auto results = required(leave_out(set, GroupBy::program, 0, options_of("forest"), nullptr));
  // The 80 % intervals alone would say that the GPU is faster.
  std::size_t above = 0;
  for (const LeftOut& one : results) above += one.prediction.interval80.low > 0 ? 1 : 0;
  CHECK(above > 96);
  for (const LeftOut& one : results) {
    if (one.sample / 8 != 4 && one.sample / 8 != 16) CHECK(one.unknown());
  }
}

TEST_CASE("verdicts that were right are given, however wide the usual interval is") {
  const SampleSet set = evaluated_example(1, 24);
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
  SampleSet set = evaluated_example();
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
  const SampleSet set = evaluated_example();
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < set.samples.size(); ++i) rows.push_back(i);
  const auto predictor = required(Predictor::learn(set, rows, options_of("forest")));
  const Sample* large = &set.samples[0];
  for (const Sample& sample : set.samples) {
    if (sample.cpu_ms > large->cpu_ms) large = &sample;
  }
  const SpeedupPrediction free = predictor.predict(*large);
  CHECK(free.probability > 0.95);
  CHECK(free.regret_offload < free.regret_keep);
  const SpeedupPrediction dear = predictor.predict(*large, 1.5);
  CHECK(dear.probability == 0);
  CHECK(dear.regret_keep == 0);
  CHECK(dear.regret_offload > 0.5);
}

TEST_CASE("a verdict is judged as it is given, not as the mean has it") {
  SampleSet set;
  set.samples.emplace_back();
  set.samples[0].cpu_ms = 2;
  set.samples[0].gpu_ms = {1};
  LeftOut one;
  one.prediction.deciding = {0.1, 0.1};
  one.prediction.probability = 0.9;
  one.prediction.log_regret_offload = 0.2;  // it seldom is much slower
  one.prediction.log_regret_keep = 0.09;
  CHECK_FALSE(one.unknown());
  CHECK(figures_of(set, {one}).wrong == 0);
  CHECK(figures_of(set, {one}).right == 0);  // of the choices by the mean
  CHECK(risk_curve(set, {one}).back().wrong == 0);
}

TEST_CASE("the most certain answers are the least often wrong") {
  const SampleSet set = evaluated_example();
  const auto results = required(leave_out(set, GroupBy::program, 0, options_of("forest"), nullptr));
  const auto curve = risk_curve(set, results);
  REQUIRE(curve.size() == 20);
  CHECK(curve.back().answered == 1);
  CHECK(curve.front().wrong <= curve.back().wrong);
}

TEST_CASE("an evaluation that is stopped answers what is finished") {
  const SampleSet set = evaluated_example();
  const auto results = required(leave_out(set, GroupBy::program, 0, options_of("forest"),
                                          [](std::size_t done, std::size_t) { return done < 2; }));
  CHECK(results.size() == 16);
}

TEST_CASE("what cannot be evaluated is said") {
  SampleSet set = evaluated_example();
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
  const SampleSet set = evaluated_example(4);
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
  CHECK(evaluate_new_device(evaluated_example(2), 0, options).code() ==
        StatusCode::invalid_argument);
}
