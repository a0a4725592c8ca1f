#include <vector>

#include <doctest/doctest.h>

#include "agent/host/lab/performance_curve.hpp"

using namespace idletune;

namespace {

SimulatedSearch search_with(std::vector<ImprovedBest> improvements) {
  SimulatedSearch search;
  search.improvements = std::move(improvements);
  return search;
}

double mean_at(const std::vector<CurvePoint>& curve, double at) {
  double mean = -1;
  for (const CurvePoint& point : curve) {
    if (point.at <= at) mean = point.mean;
  }
  return mean;
}

}  // namespace

TEST_CASE("a curve is what the searches had reached by then, those without anything as 0") {
  const std::vector<SimulatedSearch> searches{search_with({{1, 10, 0.5}, {4, 90, 1.0}}),
                                              search_with({{2, 15, 0.25}, {3, 50, 0.75}}),
                                              search_with({})};
  const auto curve = performance_curve(searches, CurveAxis::evaluations);
  REQUIRE(curve.size() == 4);
  const double means[] = {0.5 / 3, 0.75 / 3, 1.25 / 3, 1.75 / 3};
  const double medians[] = {0, 0.25, 0.5, 0.75};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(curve[i].at == static_cast<double>(i + 1));
    CHECK(curve[i].mean == doctest::Approx(means[i]));
    CHECK(curve[i].median == medians[i]);
    CHECK(curve[i].p10 == 0);
  }
  const auto over_time = performance_curve(searches, CurveAxis::tuning_ms);
  REQUIRE(over_time.size() == 100);
  CHECK(over_time.front().at == 10);
  CHECK(over_time.back().at == 90);
  CHECK(mean_at(over_time, 14.9) == doctest::Approx(0.5 / 3));
  CHECK(mean_at(over_time, 55) == doctest::Approx(1.25 / 3));
  CHECK(over_time.back().mean == doctest::Approx(1.75 / 3));
}

TEST_CASE("curves never fall, and there is none where nothing was found") {
  std::vector<SimulatedSearch> searches;
  Random random(3);
  for (int s = 0; s < 40; ++s) {
    std::vector<ImprovedBest> improvements;
    double relative = 0;
    for (std::uint64_t step = 1; step < 500; step += 1 + random.below(90)) {
      relative += (1 - relative) * random.uniform();
      improvements.push_back({step, static_cast<double>(step) * 7.5, relative});
    }
    searches.push_back(search_with(std::move(improvements)));
  }
  for (const CurveAxis axis : {CurveAxis::evaluations, CurveAxis::tuning_ms}) {
    const auto curve = performance_curve(searches, axis);
    REQUIRE(curve.size() > 50);
    REQUIRE(curve.size() <= 100);
    for (std::size_t i = 1; i < curve.size(); ++i) {
      CHECK(curve[i].at > curve[i - 1].at);
      CHECK(curve[i].mean >= curve[i - 1].mean);
      CHECK(curve[i].p10 >= curve[i - 1].p10);
      CHECK(curve[i].p10 <= curve[i].median);
    }
  }
  CHECK(performance_curve({}, CurveAxis::evaluations).empty());
  CHECK(performance_curve(std::vector<SimulatedSearch>(3), CurveAxis::tuning_ms).empty());
}
