#include "agent/host/lab/regret/recorded_device.hpp"

#include <algorithm>
#include <cmath>

#include "agent/host/lab/replayed_trials.hpp"
#include "models/core/median.hpp"

namespace idletune::regret {
namespace {

Nanoseconds rounded(double ns) {
  return Nanoseconds(std::max<std::int64_t>(0, std::llround(std::min(ns, 4e18))));
}

}  // namespace

Result<RecordedDevice> RecordedDevice::of(const History& history) {
  RecordedDevice device;
  std::vector<double> compile_times;
  for (const std::size_t row : history.valid_rows()) {
    const double ns = history.compile_time_ns(row);
    if (std::isfinite(ns)) compile_times.push_back(ns);
  }
  const double usual_compile = median_of(std::move(compile_times));
  device.has_compile_times_ = usual_compile > 0;
  for (std::size_t row = 0; row < history.rows(); ++row) {
    const bool correct = history.correct(row);
    const bool known = std::isfinite(history.compile_time[row]);
    device.status_.push_back(history.status[row]);
    device.run_time_.push_back(correct ? std::max(Nanoseconds{1}, rounded(history.run_time_ns(row)))
                                       : Nanoseconds{0});
    device.compile_time_.push_back(rounded(known ? history.compile_time_ns(row) : usual_compile));
    if (correct) device.by_time_.push_back(row);
  }
  if (device.by_time_.empty()) {
    return Status(
        StatusCode::invalid_argument,
        "history of " + history.kernel + " on " + history.device + ": nothing in it ran correctly");
  }
  std::stable_sort(
      device.by_time_.begin(), device.by_time_.end(),
      [&](std::size_t a, std::size_t b) { return device.run_time_[a] < device.run_time_[b]; });
  return device;
}

TrialOutcome RecordedDevice::outcome(const TrialRequest& request, std::size_t row) const {
  return stage_of({status_[row], run_time_[row], compile_time_[row]}, request);
}

}  // namespace idletune::regret
