#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "agent/search/measured_sample.hpp"

using namespace idletune;

namespace {

constexpr double kFailed = std::numeric_limits<double>::infinity();

// Codes that tell which measurement this was.
std::vector<std::uint16_t> named(std::size_t number) {
  return {static_cast<std::uint16_t>(number % 1000), static_cast<std::uint16_t>(number / 1000)};
}
std::size_t name_of(Span<const std::uint16_t> codes) { return codes[0] + 1000u * codes[1]; }

}  // namespace

TEST_CASE("a sample keeps the quickest, each with what belongs to it") {
  constexpr std::size_t kAdded = 3000;
  Random random(1);
  std::vector<double> times;
  MeasuredSample sample(2, 9);
  for (std::size_t i = 0; i < kAdded; ++i) {
    times.push_back(random.below(10) == 0 ? kFailed : random.uniform());
    sample.add(named(i), times.back(), static_cast<float>(i) * 0.5f);
    REQUIRE(sample.size() == std::min(i + 1, MeasuredSample::kBest + MeasuredSample::kOthers));
    if (i % 100 != 99 && i > 300) continue;
    std::set<std::size_t> names;
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 0; k < sample.size(); ++k) {
      const std::size_t name = name_of(sample.codes(k));
      CHECK(names.insert(name).second);
      REQUIRE(name <= i);
      CHECK(sample.log_time(k) == times[name]);
      CHECK(sample.prior(k) == static_cast<float>(name) * 0.5f);
      if (k < MeasuredSample::kBest) CHECK(sample.log_time(k) == sorted[k]);
    }
  }
  CHECK(sample.correct() == static_cast<std::size_t>(std::count_if(
                                times.begin(), times.end(), [](double t) { return t < kFailed; })));
}

TEST_CASE("of the slower ones a sample keeps early and late ones alike") {
  constexpr std::size_t kAdded = 1128;
  constexpr int kSamples = 400;
  int early = 0, kept = 0;
  for (int s = 0; s < kSamples; ++s) {
    MeasuredSample sample(2, static_cast<std::uint64_t>(s));
    // The first kBest stay the quickest, so that all others go through the reservoir.
    for (std::size_t i = 0; i < kAdded; ++i) sample.add(named(i), i < 128 ? 1.0 : 2.0, 0);
    for (std::size_t k = MeasuredSample::kBest; k < sample.size(); ++k) {
      ++kept;
      early += name_of(sample.codes(k)) < 128 + 500 ? 1 : 0;
    }
  }
  // Half of the thousand; 51,200 draws without replacement: standard deviation below 113.
  CHECK(kept == kSamples * 128);
  CHECK(std::abs(early - kept / 2) < 450);
}
