#include "agent/belief/search_forecast.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/unit/scheduler/two_source_model.hpp"

using namespace idletune;
using doctest::Approx;
using test::two_source_model;

namespace {

constexpr std::size_t kForecastEntries = 24;
constexpr double kForecastScale = 2e6;

struct World {
  explicit World(const std::function<void(test::ModelContent&)>& edit = {})
      : model(two_source_model(kForecastEntries, edit)), beliefs(model->kernels()[0]) {
    for (std::size_t i = 0; i < kForecastEntries; ++i) upcoming.push_back({i, 0});
  }
  // The next entry ran in that time.
  void tell(double time) {
    beliefs.tell_entry(upcoming.front().entry, time);
    upcoming.erase(upcoming.begin());
  }
  ForecastInput input() const {
    ForecastInput input;
    input.outlook = {&beliefs, 0.25, {upcoming.data(), upcoming.size()}};
    return input;
  }
  double gain(double proposals) const { return SearchForecast(input()).gain(proposals); }
  std::shared_ptr<const Model> model;
  DevicePosterior beliefs;
  std::vector<DevicePosterior::Forecast> upcoming;
};

UniformDraws spread_out(int count) {
  UniformDraws draws;
  for (int i = 0; i < count; ++i) draws.add(Nanoseconds(1000000 + 4000000 / count * i));
  return draws;
}

double gain_of_draws(const UniformDraws& draws, double proposals, double margin = 0.03) {
  ForecastInput input;
  input.draws = &draws;
  input.margin = margin;
  return SearchForecast(input).gain(proposals);
}

}  // namespace

TEST_CASE("more proposals never promise less, and never more than the end allows") {
  World world;
  for (int i = 0; i < 3; ++i) world.tell(kForecastScale);
  double previous = 0;
  for (double k : {1.0, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 64.0, 256.0, 4096.0}) {
    CHECK(world.gain(k) >= previous);
    previous = world.gain(k);
  }
  CHECK(previous > 0);
  CHECK(previous < 1);
}

TEST_CASE("with everything tried the gain is the distance to t_best") {
  const UniformDraws draws = spread_out(40);
  const Tenths distance = DrawLaws(draws).distance();
  double expected = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (distance[i] > 0.001) expected += kTenthWeights[i] * -std::expm1(-distance[i]);
  }
  CHECK(gain_of_draws(draws, 1e12, 0.001) == Approx(expected).epsilon(0.02));
}

TEST_CASE(
    "as many draws as were made improve about half of the time, and less the more there were") {
  double previous = 1;
  for (int count : {5, 20, 80, 300}) {
    const UniformDraws draws = spread_out(count);
    const double all = gain_of_draws(draws, 1e12);
    CHECK(gain_of_draws(draws, count) > 0.25 * all);
    CHECK(gain_of_draws(draws, count) < 0.55 * all);
    CHECK(gain_of_draws(draws, 1) < previous);
    previous = gain_of_draws(draws, 1);
  }
}

TEST_CASE("beside a model uniform draws promise more than the smallest gains") {
  World world;
  world.tell(kForecastScale);
  ForecastInput input = world.input();
  input.outlook.upcoming = {};
  input.outlook.random_share = 1;
  CHECK(SearchForecast(input).gain(1) > 0.1);
  CHECK(SearchForecast(input).gain(64) > 0.2);
}

TEST_CASE("entries that history likes promise more than those it does not") {
  World good;
  World bad([](test::ModelContent& content) {
    for (std::size_t i = 1; i < kForecastEntries; ++i) content.portfolio_score[i] = 0.1f;
  });
  good.tell(kForecastScale);
  bad.tell(kForecastScale);
  CHECK(good.gain(4) > bad.gain(4));
}

TEST_CASE("where predictions came true less is promised than where they were off") {
  World right;
  World wrong;
  CHECK(right.beliefs.relative_noise() == Approx(1));
  for (int i = 0; i < 8; ++i) {
    const std::size_t entry = right.upcoming.front().entry;
    const double time = kForecastScale / right.beliefs.relative(entry, 0);
    right.tell(time);
    wrong.tell(time * (i % 2 == 0 ? 2 : 1));
  }
  CHECK(right.beliefs.relative_noise() < 0.5);
  CHECK(wrong.beliefs.relative_noise() > 1);
  CHECK(right.gain(1) < wrong.gain(1));
  CHECK(right.gain(16) < wrong.gain(16));
  CHECK(right.gain(16) > 0);
}

TEST_CASE("improvements below the margin gain nothing, with a model and without") {
  World world;
  for (int i = 0; i < 4; ++i) world.tell(kForecastScale);
  ForecastInput input = world.input();
  double previous = 1;
  for (double margin : {0.01, 0.03, 0.1, 0.2, 0.3, 0.89}) {
    input.margin = margin;
    CHECK(SearchForecast(input).gain(16) < previous);
    previous = SearchForecast(input).gain(16);
  }
  CHECK(previous == 0);
  CHECK(gain_of_draws(spread_out(20), 16, 0.89) == 0);
}

TEST_CASE("none of these keeps its weight however many sources there are") {
  const auto many = [](test::ModelContent& content) {
    std::vector<float> relative;
    for (std::size_t e = 0; e < kForecastEntries; ++e) {
      for (std::size_t d = 0; d < 34; ++d) {
        relative.push_back(content.portfolio_relative[2 * e + d % 2]);
      }
    }
    content.portfolio_relative = relative;
    for (std::size_t d = 2; d < 34; ++d) {
      content.sources.push_back(content.sources[d % 2]);
      content.sources.back().device += std::to_string(d);
    }
  };
  World two;
  World thirty_four(many);
  two.tell(kForecastScale);
  thirty_four.tell(kForecastScale);
  for (double k : {1.0, 16.0}) CHECK(thirty_four.gain(k) == Approx(two.gain(k)).epsilon(0.02));
}

TEST_CASE("what lies behind the fastest seen has to be made up first") {
  World world;
  for (int i = 0; i < 4; ++i) world.tell(kForecastScale);
  ForecastInput input = world.input();
  const double level = SearchForecast(input).gain(8);
  input.behind = 0.2;
  CHECK(SearchForecast(input).gain(8) > level);
}

TEST_CASE("where nothing is left of one end, what lies behind can be made up all the same") {
  const auto gain_of = [](int count) {
    UniformDraws draws;
    draws.add(Nanoseconds(1000000));
    for (int i = 1; i < count; ++i) draws.add(Nanoseconds(1350000));
    ForecastInput input;
    input.draws = &draws;
    input.behind = 0.5;
    return SearchForecast(input).gain(16);
  };
  // At 345 draws with this spread the lowest tenth's end reaches t_best.
  CHECK(gain_of(360) > gain_of(330) * 330 / 360 * 0.99);
}

TEST_CASE("what is held per kernel fits its 32 KiB") {
  // Printed, so that a run under qemu shows the figure of that platform.
  MESSAGE("bytes: posterior ", sizeof(DevicePosterior), ", forecast ", sizeof(SearchForecast),
          ", draws ", sizeof(UniformDraws));
  CHECK(sizeof(DevicePosterior) + sizeof(SearchForecast) + sizeof(UniformDraws) <= 16 * 1024);
}
