#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "agent/host/pictures/scale.hpp"

using namespace idletune::report;

namespace {

std::vector<std::string> labels_of(const std::vector<Tick>& ticks) {
  std::vector<std::string> labels;
  for (const Tick& tick : ticks) labels.push_back(tick.label);
  return labels;
}

using Labels = std::vector<std::string>;

}  // namespace

TEST_CASE("a linear scale maps its ends and its middle") {
  const Scale scale = Scale::linear(0, 10, 100, 200);
  CHECK(scale.at(0) == 100);
  CHECK(scale.at(5) == 150);
  CHECK(scale.at(10) == 200);
}

TEST_CASE("a logarithmic scale maps powers of ten to even steps, also downwards") {
  const Scale scale = Scale::logarithmic(1, 1000, 300, 0);
  CHECK(scale.at(1) == doctest::Approx(300));
  CHECK(scale.at(10) == doctest::Approx(200));
  CHECK(scale.at(1000) == doctest::Approx(0));
}

TEST_CASE("no value leaves the plot") {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Scale& scale : {Scale::linear(0, 1, 10, 20), Scale::logarithmic(1, 10, 10, 20)}) {
    for (const double value : {-infinity, -5.0, 0.0, 0.5, 100.0, infinity, nan}) {
      CHECK(scale.at(value) >= 10);
      CHECK(scale.at(value) <= 20);
    }
  }
}

TEST_CASE("unusable ranges become usable ones") {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double low : {nan, -infinity, infinity, -1.0, 0.0, 3.0}) {
    for (const double high : {nan, -infinity, infinity, -1.0, 0.0, 3.0}) {
      for (const Scale& scale :
           {Scale::linear(low, high, 0, 1), Scale::logarithmic(low, high, 0, 1)}) {
        CHECK(std::isfinite(scale.low()));
        CHECK(scale.low() < scale.high());
        CHECK(std::isfinite(scale.at(1)));
        CHECK(scale.ticks(6).size() <= 6);
      }
    }
  }
}

TEST_CASE("one share alone lies on an axis of shares") {
  const Scale none = Axis{"", Axis::shares}.scale({0, 0}, 0, 1);
  CHECK(none.low() == 0);
  CHECK(none.high() == 1);
  const Scale all = Axis{"", Axis::logarithmic_shares}.scale({1, 1}, 0, 1);
  CHECK(all.low() == 0.5);
  CHECK(all.high() == 1);
}

TEST_CASE("linear ticks are at round numbers") {
  CHECK(labels_of(Scale::linear(0, 1, 0, 1).ticks(6)) ==
        Labels{"0", "0.2", "0.4", "0.6", "0.8", "1"});
  CHECK(labels_of(Scale::linear(0, 1, 0, 1).ticks(3)) == Labels{"0", "0.5", "1"});
  CHECK(labels_of(Scale::linear(3, 97, 0, 1).ticks(5)) == Labels{"50"});
  CHECK(labels_of(Scale::linear(-2, 2, 0, 1).ticks(5)) == Labels{"-2", "-1", "0", "1", "2"});
  CHECK(labels_of(Scale::linear(1000, 5000, 0, 1).ticks(5)) ==
        Labels{"1k", "2k", "3k", "4k", "5k"});
}

TEST_CASE("logarithmic ticks are at powers of ten, finer or thinner as there is room") {
  CHECK(labels_of(Scale::logarithmic(1, 10000, 0, 1).ticks(5)) ==
        Labels{"1", "10", "100", "1k", "10k"});
  CHECK(labels_of(Scale::logarithmic(1, 20, 0, 1).ticks(6)) == Labels{"1", "2", "5", "10", "20"});
  CHECK(labels_of(Scale::logarithmic(1, 100, 0, 1).ticks(5)) ==
        Labels{"1", "3", "10", "30", "100"});
  CHECK(labels_of(Scale::logarithmic(1, 1e8, 0, 1).ticks(5)) ==
        Labels{"1", "100", "10k", "1M", "100M"});
  CHECK(Scale::logarithmic(2.1, 2.9, 0, 1).ticks(5).size() >= 2);
}

TEST_CASE("ticks never exceed the limit and stay within the axis") {
  for (double low = 1e-6; low < 10; low *= 3.7) {
    for (double ratio = 1.01; ratio < 1e12; ratio *= 4.3) {
      for (std::size_t limit = 2; limit < 9; ++limit) {
        for (const Scale& scale :
             {Scale::linear(low, low * ratio, 0, 1), Scale::logarithmic(low, low * ratio, 0, 1)}) {
          const std::vector<Tick> ticks = scale.ticks(limit);
          CHECK(ticks.size() <= limit);
          for (const Tick& tick : ticks) {
            const double slack = 1e-6 * (scale.high() - scale.low());
            CHECK(tick.value >= scale.low() - slack);
            CHECK(tick.value <= scale.high() + slack);
          }
        }
      }
    }
  }
}

TEST_CASE("percentages label the same ticks") {
  const std::vector<Tick> ticks = as_percentages(Scale::linear(0, 1, 0, 1).ticks(3));
  CHECK(labels_of(ticks) == Labels{"0\xc2\xa0%", "50\xc2\xa0%", "100\xc2\xa0%"});
  CHECK(as_percentages({{0.0007, ""}})[0].label == "0.07\xc2\xa0%");
}
