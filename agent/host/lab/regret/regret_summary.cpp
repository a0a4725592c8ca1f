#include "agent/host/lab/regret/regret_summary.hpp"

#include <algorithm>
#include <cmath>

namespace idletune::regret {
namespace {

// Below this share of the total there is nothing to capture: the break-even is not reached.
constexpr double kWorthCapturing = 0.01;

std::optional<double> captured(double never, double total, double clairvoyant) {
  const double gain = never - clairvoyant;
  if (!(gain >= kWorthCapturing * never)) return std::nullopt;
  return (never - total) / gain;
}

class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  void add(const std::optional<double>& value) {
    if (value) add(*value);
  }
  double value() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  std::optional<double> if_any() const {
    return count_ == 0 ? std::nullopt : std::optional<double>(value());
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

void compare(RegretPoint& point, bool ledger) {
  const auto mean = [&](Policy policy) { return point.total_ms[policy].mean; };
  const double never = mean(Policy::never);
  const double total = mean(Policy::idletune);
  const double clairvoyant = mean(Policy::clairvoyant);
  const double with_ledger = mean(ledger ? Policy::clairvoyant_ledger : Policy::clairvoyant);
  const double no_ledger = mean(Policy::idletune_no_ledger);
  point.loss = total / never - 1;
  point.excess = total / with_ledger - 1;
  point.excess_no_ledger = no_ledger / clairvoyant - 1;
  point.excess_absolute = total / clairvoyant - 1;
  point.captured_gain = captured(never, total, clairvoyant);
  point.captured_gain_ledger = captured(never, total, with_ledger);
  point.captured_gain_no_ledger = captured(never, no_ledger, clairvoyant);
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) spread.mean += value / n;
  spread.min = *std::min_element(values.begin(), values.end());
  spread.max = *std::max_element(values.begin(), values.end());
  if (std::isnan(spread.mean)) {
    spread.min = spread.max = spread.deviation = spread.mean;
    return spread;
  }
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  // What is left of equal values by rounding is no spread.
  const bool equal = spread.max - spread.min <= 1e-12 * std::fabs(spread.mean);
  spread.deviation = equal ? 0 : std::sqrt(squares / (n - 1));
  return spread;
}

RegretPoint point_of(const std::vector<Application>& applications) {
  RegretPoint point;
  point.launches = applications.front().launches;
  point.seeds = applications.size();
  for (std::size_t i = 0; i < kPolicyCount; ++i) {
    const auto policy = static_cast<Policy>(i);
    std::vector<double> totals;
    totals.reserve(applications.size());
    for (const Application& one : applications) totals.push_back(one.total_ms[policy]);
    point.total_ms[policy] = spread_of(totals);
  }
  const auto n = static_cast<double>(applications.size());
  const Application* worst = nullptr;
  for (const Application& one : applications) {
    point.steps += static_cast<double>(one.idletune.steps) / n;
    point.steps_no_ledger += static_cast<double>(one.idletune_no_ledger.steps) / n;
    point.clairvoyant_steps += static_cast<double>(one.clairvoyant_steps) / n;
    point.clairvoyant_ledger_steps += static_cast<double>(one.clairvoyant_ledger_steps) / n;
    point.tuning_ms += one.idletune.tuning_ms / n;
    point.final_relative += one.idletune.final_relative / n;
    point.overdrawn_ms = std::max(point.overdrawn_ms, one.idletune.overdrawn_ms);
    const double loss = one.total_ms[Policy::idletune] / one.total_ms[Policy::never] - 1;
    if (worst != nullptr && loss <= point.worst_loss) continue;
    worst = &one;
    point.worst_loss = loss;
  }
  point.verdict = worst->idletune.verdict;
  point.reason = worst->idletune.reason;
  compare(point, applications.front().ledger);
  return point;
}

RegretSummary summary_of(const std::vector<RegretCurve>& curves) {
  RegretSummary summary;
  summary.targets = curves.size();
  Mean excess;
  Mean excess_no_ledger;
  Mean excess_absolute;
  Mean gain;
  Mean gain_ledger;
  Mean gain_no_ledger;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    for (std::size_t p = 0; p < curves[c].points.size(); ++p) {
      const RegretPoint& point = curves[c].points[p];
      const bool first = summary.points++ == 0;
      excess.add(point.excess);
      excess_no_ledger.add(point.excess_no_ledger);
      excess_absolute.add(point.excess_absolute);
      gain.add(point.captured_gain);
      gain_ledger.add(point.captured_gain_ledger);
      gain_no_ledger.add(point.captured_gain_no_ledger);
      if (first || point.loss > summary.worst_loss) {
        summary.worst_loss = point.loss;
        summary.worst_curve = c;
        summary.worst_point = p;
      }
      if (first || point.excess > summary.worst_excess) {
        summary.worst_excess = point.excess;
        summary.worst_excess_curve = c;
        summary.worst_excess_point = p;
      }
    }
  }
  summary.mean_excess = excess.value();
  summary.mean_excess_no_ledger = excess_no_ledger.value();
  summary.mean_excess_absolute = excess_absolute.value();
  summary.mean_captured_gain = gain.if_any();
  summary.mean_captured_gain_ledger = gain_ledger.if_any();
  summary.mean_captured_gain_no_ledger = gain_no_ledger.if_any();
  return summary;
}

}  // namespace idletune::regret
