#include "agent/host/lab/offload/few_measured.hpp"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "models/core/random.hpp"

using namespace idletune;
using namespace idletune::offload;

namespace {

// Forty programs of three kernels; predictions are off by `shift`, and a little more or less by
// program.
struct Elsewhere {
  SampleSet set;
  std::vector<double> predicted;

  explicit Elsewhere(double shift, double noise) {
    Random random(3);
    for (int i = 0; i < 120; ++i) {
      Sample sample;
      sample.name = std::to_string(i);
      sample.groups.program = std::to_string(i % 40);
      const double log_speedup = 4 * random.uniform() - 2;
      sample.cpu_ms = std::exp(log_speedup);
      sample.gpu_ms = {1};
      set.samples.push_back(sample);
      predicted.push_back(log_speedup - shift + noise * (random.uniform() - 0.5));
    }
  }
  FewMeasured with(std::size_t measured) const {
    const auto result = with_few_measured(set, predicted, GroupBy::program, measured, 50, 1);
    REQUIRE_MESSAGE(result.ok(), result.status().to_string());
    return *result;
  }
};

}  // namespace

TEST_CASE("one measured sample takes away what all predictions are off by") {
  const Elsewhere exact(1, 0);
  const FewMeasured result = exact.with(1);
  CHECK(result.groups == 40);
  CHECK(result.error_median == doctest::Approx(0).epsilon(1e-9));
  CHECK(result.ratio_geometric == doctest::Approx(1));
}

TEST_CASE("intervals from a few measured samples cover what they say, and few have none") {
  const Elsewhere noisy(1, 0.6);
  CHECK(std::isinf(noisy.with(3).width80));
  CHECK(noisy.with(3).unknown == 1);
  const FewMeasured ten = noisy.with(10);
  CHECK(ten.coverage80 > 0.77);
  CHECK(ten.coverage80 < 0.9);
  CHECK(ten.coverage90 > 0.87);
  CHECK(ten.width80 < std::exp(0.7));
  CHECK(ten.unknown < 0.3);
  CHECK(ten.wrong < 0.05);
}

TEST_CASE("something must be measured, and something must be left") {
  const Elsewhere any(0, 0);
  for (const std::size_t measured : {std::size_t{0}, std::size_t{40}}) {
    const auto result = with_few_measured(any.set, any.predicted, GroupBy::program, measured, 1, 1);
    CHECK(result.status().message().find("there are 40") != std::string::npos);
  }
}
