#include "models/host/offload/decision.hpp"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "models/core/random.hpp"
#include "models/host/learn/model_contents.hpp"
#include "models/host/offload/stored_model.hpp"
#include "models/predict/model.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::offload;

namespace {

// The GPU is ten times faster where `parallel` is 1, and ten times slower where it is 0.
OffloadModel example() {
  OffloadModel model;
  model.set.name = "example";
  model.set.device = "Board Nine";
  model.set.features = {"example", 1, {"ninst", "parallel"}};
  model.set.variants = {"fastest"};
  model.options.learner.models = 20;
  Random random(3);
  for (int i = 0; i < 80; ++i) {
    Sample sample;
    sample.name = "loop " + std::to_string(i);
    sample.groups.program = "p" + std::to_string(i % 40);
    sample.cpu_ms = std::exp(3 * random.uniform());
    const double parallel = i / 8 % 2;
    sample.features = {1e6 * sample.cpu_ms, parallel};
    sample.gpu_ms = {sample.cpu_ms * (parallel > 0 ? 0.1 : 10) * (0.9 + 0.2 * random.uniform())};
    sample.bytes_in = 100;
    model.set.samples.push_back(std::move(sample));
  }
  return model;
}

class Example {
 public:
  Example() : model_(example()) {
    for (std::size_t i = 0; i < model_.set.samples.size(); ++i) rows_.push_back(i);
  }
  OffloadDecision decide(double parallel, const OffloadCosts& costs,
                         Iterations iterations = Iterations::independent,
                         const std::vector<std::vector<double>>& others = {}) const {
    const auto predictor = required(Predictor::learn(model_.set, rows_, model_.options));
    Sample sample;
    sample.cpu_ms = 5;
    sample.features = {5e6, parallel};
    return decide_offload(predictor, sample, others, iterations, costs);
  }

 private:
  OffloadModel model_;
  std::vector<std::size_t> rows_;
};

}  // namespace

TEST_CASE("a loop that pays at once, one from some launches on, and one that never pays") {
  const Example given;
  OffloadCosts costs;
  const OffloadDecision at_once = given.decide(1, costs);
  CHECK(at_once.verdict == OffloadVerdict::offload);
  CHECK(at_once.break_even_launches == 1);
  CHECK(at_once.kernel_ms == doctest::Approx(0.5).epsilon(0.2));
  CHECK(at_once.regret_offload_ms < at_once.regret_keep_ms);

  costs.fixed_ms = 900;
  costs.launches = 10;
  const OffloadDecision few = given.decide(1, costs);
  CHECK(few.verdict == OffloadVerdict::keep);
  CHECK(few.break_even_launches > 150);
  CHECK(few.break_even_launches < 300);
  costs.launches = 1000;
  CHECK(given.decide(1, costs).verdict == OffloadVerdict::offload);

  const OffloadDecision never = given.decide(0, costs);
  CHECK(never.verdict == OffloadVerdict::keep);
  CHECK(std::isinf(never.break_even_launches));
}

TEST_CASE("transfers that take longer than the CPU make a fast kernel useless") {
  OffloadCosts costs;
  costs.transfer_ms = 20;
  const OffloadDecision decision = Example().decide(1, costs);
  CHECK(decision.verdict == OffloadVerdict::keep);
  CHECK(decision.reason.find("kernel and transfers would take 20") == 0);
}

TEST_CASE("what nobody can know is unknown, with what would settle it") {
  const Example given;
  const OffloadDecision dependent = given.decide(1, {}, Iterations::dependent);
  CHECK(dependent.verdict == OffloadVerdict::unknown);
  CHECK(dependent.reason.find("iterations depend") == 0);
  CHECK_FALSE(dependent.settled_by.empty());
  CHECK(given.decide(1, {}, Iterations::reduction).verdict == OffloadVerdict::offload);

  const OffloadDecision far = given.decide(25, {});
  CHECK(far.verdict == OffloadVerdict::unknown);
  CHECK(far.reason.find("no sample is like this one") == 0);

  OffloadCosts costs;  // with them the break-even lies in the middle of the interval
  const LogInterval deciding = given.decide(1, {}).prediction.deciding;
  REQUIRE(deciding.low < deciding.high);
  costs.transfer_ms = 5 - 5 * std::exp(-(deciding.low + deciding.high) / 2);
  const OffloadDecision close = given.decide(1, costs);
  CHECK(close.verdict == OffloadVerdict::unknown);
  CHECK(close.reason.find("only one of them would pay") != std::string::npos);
}

TEST_CASE(
    "features that could be others widen the interval, and leave verdicts that all agree on") {
  const Example given;
  const auto decide = [&](const std::vector<std::vector<double>>& others) {
    return given.decide(1, {}, Iterations::independent, others);
  };
  const OffloadDecision alone = decide({});
  const OffloadDecision agreed = decide({{5e6, 1}, {5.05e6, 1}});
  CHECK(agreed.verdict == OffloadVerdict::offload);
  CHECK(agreed.prediction.interval80.low <= alone.prediction.interval80.low);
  CHECK(agreed.prediction.interval80.high >= alone.prediction.interval80.high);

  const OffloadDecision open = decide({{5e6, 0}});
  CHECK(open.verdict == OffloadVerdict::unknown);
  CHECK(open.prediction.interval80.low < std::log(0.2));
  CHECK(open.prediction.interval80.high == alone.prediction.interval80.high);
  CHECK(open.reason.find("what the code does not say decides") == 0);
  CHECK_FALSE(open.settled_by.empty());
}

TEST_CASE("a program is as fast as the rest of it allows") {
  CHECK(program_speedup(100, 0) == 1);
  CHECK(program_speedup(100, 50) == 2);
  CHECK(program_speedup(100, 100) > 1e6);
}

TEST_CASE("a stored model predicts as before, and agents skip it") {
  const OffloadModel model = example();
  const auto bytes = write_offload_model(model);
  CHECK(Model::open(bytes, "m").ok());
  const auto read = required(read_offload_model(bytes, "m"));
  CHECK(read.set.device == "Board Nine");
  CHECK(read.set.features == model.set.features);
  REQUIRE(read.set.samples.size() == model.set.samples.size());
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < model.set.samples.size(); ++i) rows.push_back(i);
  const auto before = Predictor::learn(model.set, rows, model.options);
  const auto after = Predictor::learn(read.set, rows, read.options);
  for (const Sample& sample : model.set.samples) {
    CHECK(before->predict(sample).log_speedup == after->predict(sample).log_speedup);
    CHECK(before->predict(sample).interval90.low == after->predict(sample).interval90.low);
  }
}

TEST_CASE("a model that says nothing of offloading, or whose section is damaged, is refused") {
  ModelContents contents;
  contents.kernels.push_back({"gemm", {"A"}, {}});
  CHECK(read_offload_model(write_model(contents), "m").status().message() ==
        "m: says nothing about offloading");
  auto taken = *read_model(write_offload_model(example()), "m");
  ModelSection& section = taken.kernels[0].sections[0];
  section.version = 9;
  CHECK(read_offload_model(write_model(taken), "m").code() == StatusCode::version_mismatch);
  section.version = 1;
  section.bytes[20] ^= 0x40;
  CHECK(read_offload_model(write_model(taken), "m").code() == StatusCode::corrupt);
  section.bytes.resize(4);
  CHECK(read_offload_model(write_model(taken), "m").code() == StatusCode::corrupt);
}

TEST_CASE("a region that is entered often is copied and launched as often") {
  Sample sample;
  sample.bytes_in = 1000;
  sample.bytes_out = 500;
  CHECK(bytes_to_copy(sample, 1, 1e6) == 1500);
  CHECK(bytes_to_copy(sample, 50000, 1e9) == 50000 * 1500.0);  // the same arrays again and again
  CHECK(bytes_to_copy(sample, 3, 300) == 2400);                // each a part of them
  CHECK(bytes_to_copy(sample, 3, 10) == 1500);
}
