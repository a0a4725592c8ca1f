#include "agent/belief/device_posterior.hpp"

#include <doctest/doctest.h>

#include <cmath>

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
  CHECK(component.count == 8);
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
  CHECK(first.tried_weight() == second.tried_weight());
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

TEST_CASE("what all sources explain alike changes no weight, however long it goes on") {
  const auto model = two_source_model(kEntries);
  DevicePosterior beliefs(model->kernels()[0]);
  tell_like(beliefs, 0, 4, 0.05);
  const double before = beliefs.weight(0);
  for (int i = 0; i < 20000; ++i) beliefs.tell_draw(kScale * 1e6);
  CHECK(beliefs.weight(0) == Approx(before).epsilon(0.1));
  CHECK(total_weight(beliefs) == Approx(1));
}

TEST_CASE("weights stay numbers where no source explains all draws") {
  const auto model = two_source_model(kEntries, [](test::ModelContent& content) {
    for (std::size_t i = 0; i < kQuantileCount; ++i) {
      content.sources[0].quantiles[i] = static_cast<float>(0.9 + 0.1 * quantile_levels()[i]);
      content.sources[1].quantiles[i] = static_cast<float>(0.1 + 0.05 * quantile_levels()[i]);
    }
  });
  DevicePosterior beliefs(model->kernels()[0]);
  tell_like(beliefs, 0, 4, 0.05);
  for (int i = 0; i < 20000; ++i) beliefs.tell_draw(kScale * (i % 2 == 0 ? 1.05 : 5));
  CHECK(total_weight(beliefs) == Approx(1));
  CHECK(beliefs.weight_of_none() > 0.5);
}

TEST_CASE("a source that measured none of the entries told here knows no scale") {
  const auto model = two_source_model(kEntries, [](test::ModelContent& content) {
    for (std::size_t i = 0; i < 4; ++i) content.portfolio_relative[2 * i + 1] = -1;
  });
  DevicePosterior beliefs(model->kernels()[0]);
  for (std::size_t i = 0; i < 4; ++i) beliefs.tell_entry(i, kScale);
  CHECK(beliefs.component(0).count == 4);
  CHECK(beliefs.component(1).count == 0);
  CHECK(beliefs.weight(1) > 0.05);
}

TEST_CASE("in the race good entries weigh, failed ones too, and a draw as the mean of the space") {
  const auto model = two_source_model(kEntries, [](test::ModelContent& content) {
    for (test::SourceContent& source : content.sources) {
      for (std::size_t i = 0; i < kQuantileCount; ++i) {
        source.quantiles[i] = static_cast<float>(quantile_levels()[i]);  // q uniform on [0, 1]
      }
    }
    content.portfolio_score[0] = 0.9f;
    content.portfolio_score[1] = 0.5f;
  });
  DevicePosterior beliefs(model->kernels()[0]);
  CHECK(beliefs.draw_weight() == Approx(1.0 / 17).epsilon(0.01));  // the mean of q^16
  CHECK(beliefs.race_weight(0) == Approx(std::pow(0.9, 16)).epsilon(1e-4));
  beliefs.tell_entry(0, kScale);
  beliefs.tell_entry_failed(1);
  CHECK(beliefs.tried_weight() == Approx(std::pow(0.9, 16) + std::pow(0.5, 16)).epsilon(1e-4));
}

TEST_CASE("without a model nothing is believed") {
  DevicePosterior beliefs;
  CHECK(beliefs.source_count() == 0);
  CHECK(beliefs.entry_count() == 0);
  beliefs.tell_entry(0, 1e6);  // out of range: ignored
  beliefs.tell_draw(1e6);
  CHECK(beliefs.measured() == 0);
}
