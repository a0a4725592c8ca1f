#include "agent/belief/device_posterior.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "agent/belief/search_forecast.hpp"
#include "models/core/random.hpp"
#include "tests/unit/scheduler/two_source_model.hpp"

using namespace idletune;
using doctest::Approx;
using test::two_source_model;

namespace {

constexpr std::size_t kEntries = 24;
constexpr double kScale = 2e6;  // t_best on the device that is played, ns

double total_weight(const DevicePosterior& beliefs) {
  double sum = beliefs.weight_of_none();
  for (std::size_t d = 0; d < beliefs.source_count(); ++d) sum += beliefs.weight(d);
  return sum;
}

// Tells entries as a device would that is exactly like source `like`, with some noise.
void tell_like(DevicePosterior& beliefs, std::size_t like, std::size_t count, double noise,
               std::uint64_t seed = 3) {
  Random random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const double factor = std::exp(noise * (random.uniform() - 0.5));
    beliefs.tell_entry(i, kScale / beliefs.relative(i, like) * factor);
  }
}

}  // namespace

TEST_CASE("weights go to the source that predicts what is measured, and add up to 1") {
  const auto model = two_source_model(kEntries);
  DevicePosterior beliefs(model->kernels()[0]);
  CHECK(beliefs.source_count() == 2);
  CHECK(beliefs.weight(0) == Approx(beliefs.weight(1)));
  CHECK(beliefs.weight_of_none() == Approx(0.15));
  tell_like(beliefs, 1, 8, 0.05);
  CHECK(beliefs.weight(1) > 0.8);
  CHECK(beliefs.weight_of_none() >= 0.149);  // never less
  CHECK(total_weight(beliefs) == Approx(1));
  const DevicePosterior::Component component = beliefs.component(1);
  CHECK(std::exp(component.log_scale) == Approx(kScale).epsilon(0.05));
  CHECK(std::sqrt(component.noise_variance) < 0.2);
  CHECK(component.scale_variance == Approx(component.noise_variance / 8));
}

TEST_CASE("weights do not depend on how fast the device is") {
  const auto model = two_source_model(kEntries);
  DevicePosterior slow(model->kernels()[0]);
  DevicePosterior fast(model->kernels()[0]);
  for (std::size_t i = 0; i < 10; ++i) {
    slow.tell_entry(i, 1e9 / slow.relative(i, 0));
    fast.tell_entry(i, 1e4 / fast.relative(i, 0));
  }
  CHECK(slow.weight(0) == Approx(fast.weight(0)).epsilon(1e-4));
}

TEST_CASE("a device that no source predicts ends up with wide predictions, not with a favourite") {
  const auto model = two_source_model(kEntries);
  DevicePosterior beliefs(model->kernels()[0]);
  Random random(11);
  for (std::size_t i = 0; i < kEntries; ++i) {
    beliefs.tell_entry(i, kScale * std::exp(2 * random.uniform()));
  }
  CHECK(beliefs.weight_of_none() > 0.3);
  for (std::size_t d = 0; d < 2; ++d) {
    CHECK(std::sqrt(beliefs.component(d).noise_variance) > 0.5);
  }
}

TEST_CASE("one disturbed measurement moves a well-founded scale little") {
  const auto model = two_source_model(kEntries);
  DevicePosterior beliefs(model->kernels()[0]);
  tell_like(beliefs, 0, 10, 0.02);
  const double before = beliefs.component(0).log_scale;
  beliefs.tell_entry(10, 50 * kScale);
  CHECK(std::fabs(beliefs.component(0).log_scale - before) < 0.1);
  CHECK(beliefs.weight(0) > 0.5);
}

TEST_CASE("failures count against sources where the entry ran") {
  const auto model = two_source_model(kEntries, [](test::ModelContent& content) {
    for (std::size_t i = 0; i < 4; ++i) content.portfolio_relative[2 * i + 1] = 0;  // fails on B
  });
  DevicePosterior beliefs(model->kernels()[0]);
  for (std::size_t i = 0; i < 4; ++i) beliefs.tell_entry_failed(i);
  CHECK(beliefs.failed() == 4);
  CHECK(beliefs.measured() == 0);
  CHECK(beliefs.weight(1) > 2 * beliefs.weight(0));
}

TEST_CASE("the same measurements told again after a restart give the same beliefs") {
  const auto model = two_source_model(kEntries);
  DevicePosterior first(model->kernels()[0]);
  DevicePosterior second(model->kernels()[0]);
  tell_like(first, 0, 12, 0.3);
  tell_like(second, 0, 12, 0.3);
  first.tell_draw(5 * kScale);
  second.tell_draw(5 * kScale);
  for (std::size_t d = 0; d < 2; ++d) CHECK(first.weight(d) == second.weight(d));
  CHECK(first.forecast_quality() == second.forecast_quality());
}

TEST_CASE("uniform draws weigh sources by their distributions once the scale is known") {
  // Source A: q spread evenly over 0.5 to 1; source B: nearly everything at 0.1.
  const auto model = two_source_model(kEntries, [](test::ModelContent& content) {
    for (std::size_t i = 0; i < kQuantileCount; ++i) {
      const float level = static_cast<float>(quantile_levels()[i]);
      content.sources[0].quantiles[i] = 0.5f + 0.5f * level;
      content.sources[1].quantiles[i] = i + 1 < kQuantileCount ? 0.1f : 1.0f;
    }
  });
  DevicePosterior beliefs(model->kernels()[0]);
  beliefs.tell_draw(3e6);  // nothing known yet: no use
  CHECK(beliefs.weight(0) == Approx(beliefs.weight(1)));
  beliefs.tell_entry(0, kScale / beliefs.relative(0, 0));
  const double before = beliefs.weight(0);
  for (int i = 0; i < 6; ++i) beliefs.tell_draw(kScale / 0.7);
  CHECK(beliefs.weight(0) > before);
}

TEST_CASE("forecasts that fail are trusted less") {
  const auto model = two_source_model(kEntries);
  DevicePosterior beliefs(model->kernels()[0]);
  beliefs.tell_entry(0, kScale);
  CHECK(beliefs.forecast_quality() == 1);
  for (std::size_t i = 1; i < 16; ++i) beliefs.tell_entry(i, 1.5 * kScale);
  CHECK(beliefs.forecast_quality() < 0.9);
  CHECK(beliefs.forecast_quality() > 0);
}

TEST_CASE("the upcoming entries are the open ones of the highest value") {
  const auto model = two_source_model(kEntries);
  DevicePosterior beliefs(model->kernels()[0]);
  std::array<DevicePosterior::Forecast, 8> room;
  REQUIRE(beliefs.upcoming(room) == 8);
  for (std::size_t i = 1; i < 8; ++i) CHECK(room[i - 1].value >= room[i].value);
  for (std::size_t entry = 0; entry < kEntries; ++entry) {
    const bool listed =
        std::any_of(room.begin(), room.end(), [&](const auto& one) { return one.entry == entry; });
    if (!listed) CHECK(beliefs.value(entry) <= room[7].value);
  }
  const std::size_t best = room[0].entry;
  beliefs.take(best);
  REQUIRE(beliefs.upcoming(room) == 8);
  CHECK(room[0].entry != best);
  for (std::size_t i = 0; i + 3 < kEntries; ++i) beliefs.take(i);
  CHECK(beliefs.upcoming(room) <= 3);
}

TEST_CASE("without a model nothing is believed") {
  DevicePosterior beliefs;
  CHECK(beliefs.source_count() == 0);
  CHECK(beliefs.entry_count() == 0);
  beliefs.tell_entry(0, 1e6);  // out of range: ignored
  beliefs.tell_draw(1e6);
  CHECK(beliefs.measured() == 0);
}

namespace {

ForecastInput forecast_input(const DevicePosterior& beliefs, const RelativePerformance& unknown,
                             const std::array<float, kQuantileCount>& levels, double current) {
  ForecastInput input;
  input.outlook = {&beliefs, 0.25};
  input.current_ns = current;
  input.scale = {std::log(current / 1.5), 0.4};
  input.unknown_scale = input.scale;
  input.unknown = &unknown;
  input.levels = levels;
  return input;
}

std::array<float, kQuantileCount> float_levels() {
  std::array<float, kQuantileCount> levels{};
  for (std::size_t i = 0; i < kQuantileCount; ++i) {
    levels[i] = static_cast<float>(quantile_levels()[i]);
  }
  return levels;
}

}  // namespace

TEST_CASE("more proposals never promise less, and never more than everything") {
  const auto model = two_source_model(kEntries);
  DevicePosterior beliefs(model->kernels()[0]);
  tell_like(beliefs, 0, 3, 0.1);
  const RelativePerformance unknown = RelativePerformance::prior();
  const auto levels = float_levels();
  const double current = 1.6 * kScale;
  SearchForecast forecast(forecast_input(beliefs, unknown, levels, current));
  double previous = 0;
  double previous_quantile = 0;
  for (double k : {1.0, 2.0, 3.0, 4.0, 8.0, 16.0, 64.0, 256.0, 4096.0}) {
    forecast.advance_to(k);
    CHECK(forecast.expected_gain() >= previous * (1 - 1e-9));
    CHECK(forecast.gain_quantile(0.25) >= previous_quantile);
    previous = forecast.expected_gain();
    previous_quantile = forecast.gain_quantile(0.25);
  }
  CHECK(previous > 0);
  CHECK(previous < current);
}

TEST_CASE("a good entry ahead promises about what it will gain") {
  // What runs now is entry 8, which has q = 0.84 on source A; entry 0 has q = 1 there.
  const auto model = two_source_model(kEntries);
  DevicePosterior beliefs(model->kernels()[0]);
  for (std::size_t i = 8; i < 21; i += 2) beliefs.tell_entry(i, kScale / beliefs.relative(i, 0));
  const double current = kScale / beliefs.relative(8, 0);
  const RelativePerformance unknown = RelativePerformance::prior();
  const auto levels = float_levels();
  SearchForecast forecast(forecast_input(beliefs, unknown, levels, current));
  forecast.advance_to(1);
  const double truth = current - kScale;
  CHECK(forecast.expected_gain() > 0.3 * truth);
  CHECK(forecast.expected_gain() < 1.2 * truth);
}

TEST_CASE("uniform draws that find nothing promise less and less") {
  const auto model = two_source_model(kEntries);
  DevicePosterior beliefs(model->kernels()[0]);
  tell_like(beliefs, 0, kEntries, 0.1);
  const RelativePerformance unknown = RelativePerformance::prior();
  const auto levels = float_levels();
  UniformDraws draws;
  ForecastInput input = forecast_input(beliefs, unknown, levels, kScale);
  input.draws = &draws;
  double previous = 1e300;
  for (int round = 0; round < 5; ++round) {
    SearchForecast forecast(input);
    forecast.advance_to(32);
    CHECK(forecast.expected_gain() < previous);
    previous = forecast.expected_gain();
    for (int i = 0; i < 30; ++i) draws.add(Nanoseconds(static_cast<std::int64_t>(3 * kScale)));
  }
}

TEST_CASE("what is held per kernel fits its 32 KiB") {
  // Printed, so that a run under qemu shows the figure of that platform.
  MESSAGE("bytes: posterior ", sizeof(DevicePosterior), ", forecast ", sizeof(SearchForecast),
          ", draws ", sizeof(UniformDraws));
  CHECK(sizeof(DevicePosterior) + sizeof(SearchForecast) + sizeof(UniformDraws) <= 16 * 1024);
}
