#include "agent/host/lab/offload/few_measured.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "models/core/median.hpp"
#include "models/core/random.hpp"

namespace idletune::offload {
namespace {

double measured_log_speedup(const Sample& sample) {
  return std::log(sample.cpu_ms / sample.best_gpu_ms());
}

// The `rank`-th smallest, from 1 on.
double ranked(std::vector<double> values, double rank) {
  if (rank < 1) return -std::numeric_limits<double>::infinity();
  if (rank > static_cast<double>(values.size())) return std::numeric_limits<double>::infinity();
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(rank) - 1];
}

// What is added to a prediction: without each of the measured, less and plus what it was then off.
struct Shifts {
  double mean = 0;
  std::vector<double> low, high;

  explicit Shifts(const std::vector<double>& errors) {
    const auto n = static_cast<double>(errors.size());
    for (const double error : errors) mean += error / n;
    for (const double error : errors) {
      const double others = n > 1 ? (n * mean - error) / (n - 1) : 0;
      low.push_back(others - std::abs(error - others));
      high.push_back(others + std::abs(error - others));
    }
  }
  LogInterval interval(double predicted, double share) const {
    const auto n = static_cast<double>(low.size());
    // Against sums that miss a whole number by their last bit.
    const double above = std::ceil(share * (n + 1) - 1e-9);
    return {predicted + ranked(low, n + 1 - above), predicted + ranked(high, above)};
  }
};

struct TriedSamples {
  double tried = 0, covered80 = 0, covered90 = 0, log_ratio = 0, unknown = 0, wrong = 0;
  std::vector<double> errors, widths;

  void add(const Sample& sample, double predicted, const Shifts& shifts) {
    const double truth = measured_log_speedup(sample);
    const double shifted = predicted + shifts.mean;
    const LogInterval i80 = shifts.interval(predicted, 0.8);
    const LogInterval i90 = shifts.interval(predicted, 0.9);
    const auto holds = [](const LogInterval& i, double x) { return x >= i.low && x <= i.high; };
    tried += 1;
    covered80 += holds(i80, truth) ? 1 : 0;
    covered90 += holds(i90, truth) ? 1 : 0;
    widths.push_back(std::exp(i80.high - i80.low));
    errors.push_back(std::abs(std::exp(truth - shifted) - 1));
    const bool right = (shifted > 0) == (truth > 0);
    log_ratio += right ? 0 : std::abs(truth);
    if (holds(i90, 0)) {
      unknown += 1;
    } else if (!right) {
      wrong += 1;
    }
  }
};

}  // namespace

Result<FewMeasured> with_few_measured(const SampleSet& set, const std::vector<double>& predicted,
                                      GroupBy group, std::size_t measured, std::size_t draws,
                                      std::uint64_t seed) {
  std::map<std::string, std::vector<std::size_t>> by_name;
  for (std::size_t i = 0; i < set.samples.size(); ++i)
    by_name[group_of(set.samples[i], group)].push_back(i);
  std::vector<std::vector<std::size_t>> groups;
  groups.reserve(by_name.size());
  for (const auto& [name, rows] : by_name) groups.push_back(rows);
  if (measured == 0 || measured >= groups.size()) {
    return Status(StatusCode::invalid_argument, "samples of " + std::to_string(measured) +
                                                    " groups cannot be measured: there are " +
                                                    std::to_string(groups.size()) +
                                                    ", and some must be left");
  }
  TriedSamples sums;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const Permutation order(groups.size(), seed + draw);
    Random random(seed + draw);
    std::vector<double> errors;
    for (std::size_t i = 0; i < measured; ++i) {
      const std::vector<std::size_t>& rows = groups[order(i)];
      const std::size_t row = rows[random.below(rows.size())];
      errors.push_back(measured_log_speedup(set.samples[row]) - predicted[row]);
    }
    const Shifts shifts(errors);
    for (std::size_t i = measured; i < groups.size(); ++i) {
      for (const std::size_t row : groups[order(i)])
        sums.add(set.samples[row], predicted[row], shifts);
    }
  }
  FewMeasured result;
  result.measured = measured;
  result.groups = groups.size();
  result.error_median = median_of(sums.errors);
  result.coverage80 = sums.covered80 / sums.tried;
  result.coverage90 = sums.covered90 / sums.tried;
  result.width80 = median_of(sums.widths);
  result.ratio_geometric = std::exp(sums.log_ratio / sums.tried);
  result.unknown = sums.unknown / sums.tried;
  result.wrong = sums.tried > sums.unknown ? sums.wrong / (sums.tried - sums.unknown) : 0;
  return result;
}

}  // namespace idletune::offload
