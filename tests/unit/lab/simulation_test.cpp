#include <doctest/doctest.h>

#include "agent/host/lab/simulation.hpp"
#include "models/devices/device_names.hpp"
#include "models/host/history/import.hpp"
#include "models/host/learn/learn.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/search/line_history.hpp"

using namespace idletune;
using idletune::test::line_history;

namespace {

History needle_history(std::int64_t size, std::int64_t best) {
  return line_history(size, 10.0, [best](std::int64_t x) { return x == best ? 1.0 : 4.0; });
}

}  // namespace

TEST_CASE("a search ends at the wanted performance and is charged what it tried") {
  History history = needle_history(100, 17);
  test::constrain_from(50, history);  // are not in the space
  const auto simulation = required(Simulation::of(history));
  CHECK(simulation.relative_performance(17) == 1);
  CHECK(simulation.relative_performance(3) == 0.25);
  double total = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const auto search = required(simulation.run("random", nullptr, seed, {}));
    CHECK(search.reached);
    const double misses = static_cast<double>(search.evaluations) - 1;
    CHECK(search.tuning_ms == doctest::Approx(misses * 18 + 12));
    total += static_cast<double>(search.evaluations);
  }
  // One good one among 50: 25.5 draws on average, standard error 0.65.
  CHECK(total / 500 == doctest::Approx(25.5).epsilon(0.1));
}

TEST_CASE("a search that is cut short did not reach it") {
  const History history = needle_history(50, 17);
  const auto simulation = Simulation::of(history);
  SimulationOptions options;
  options.max_evaluations = 3;
  options.until = 1.5;
  const auto search = simulation->run("random", nullptr, 1, options);
  CHECK_FALSE(search->reached);
  CHECK(search->evaluations == 3);
  CHECK(simulation->run("nonsense", nullptr, 1, options).code() == StatusCode::invalid_argument);
}

TEST_CASE("summaries use the middle and the nearest rank") {
  const Summary s = summarize({5, 1, 3, 2, 4, 6, 7, 8, 9, 10});
  CHECK(s.median == 5.5);
  CHECK(s.p90 == 9);
  CHECK(s.max == 10);
  CHECK(summarize({3}).p90 == 3);
}

TEST_CASE(
    "on recorded GPUs a model of the others finds good configurations far sooner than random "
    "search" *
    doctest::test_suite("recorded data")) {
  std::vector<History> histories;
  for (const std::string& path : test::recorded_caches("kernel_tuner")) {
    auto imported = required(import_histories(test::read_bytes(path), path));
    histories.push_back(std::move(imported.front()));
  }
  if (histories.empty()) {
    return test::skip(test::kNoRecordedData);
  }
  std::vector<double> product;
  std::vector<double> random;
  for (const History& target : histories) {
    std::vector<const History*> others;
    for (const History& other : histories) {
      if (other.kernel == target.kernel && !same_device_model(other.device, target.device))
        others.push_back(&other);
    }
    LearnOptions options;
    options.cross_validate = false;
    const auto learned = required(learn(others, options));
    CHECK(learned.bytes.size() <= 64 * 1024 * learned.kernels.size() + 1024);
    const auto model = Model::open(learned.bytes, "held out");
    const auto simulation = Simulation::of(target);
    const KernelKnowledge* kernel = (*model)->kernel(target.kernel, simulation->space());
    REQUIRE(kernel != nullptr);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      product.push_back(
          static_cast<double>(simulation->run("product", kernel, seed, {})->evaluations));
      random.push_back(
          static_cast<double>(simulation->run("random", kernel, seed, {})->evaluations));
    }
  }
  const Summary with_model = summarize(product);
  const Summary without = summarize(random);
  MESSAGE("figure: evaluations to 95 %, product "
          << with_model.median << " median, " << with_model.p90 << " p90; random " << without.median
          << " median, " << without.p90 << " p90");
  CHECK(with_model.median <= 5);
  CHECK(with_model.p90 * 4 < without.p90);
}
