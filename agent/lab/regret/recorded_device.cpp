#include "agent/lab/regret/recorded_device.hpp"

#include <algorithm>
#include <cmath>

#include "models/insight/fractions.hpp"

namespace idletune::regret {
namespace {

Nanoseconds rounded(double ns) {
  return Nanoseconds(std::max<std::int64_t>(0, std::llround(std::min(ns, 4e18))));
}

}  // namespace

Result<RecordedDevice> RecordedDevice::of(const History& history) {
  RecordedDevice device;
  const double usual_compile = distribution_of(history).median_compile_ns;
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
  TrialOutcome result;
  result.stage = request.stage;
  const TrialStatus recorded = status_[row];
  switch (request.stage) {
    case TrialStage::compile:
      result.wall = compile_time_[row];
      if (recorded == TrialStatus::compile) result.status = recorded;
      break;
    case TrialStage::prepare: break;
    case TrialStage::check:
    case TrialStage::measure:
      if (recorded != TrialStatus::correct) {
        result.status = recorded;
        if (recorded == TrialStatus::timeout) result.device = request.deadline;
      } else if (request.stage == TrialStage::check) {
        result.device = run_time_[row];
      } else {
        for (std::uint32_t run = 0; run < request.repeats; ++run) {
          result.samples.push_back(run_time_[row]);
          result.device += run_time_[row];
          if (request.stop_above.count() > 0 && run_time_[row] > request.stop_above) break;
        }
      }
      result.wall = result.device;
      break;
  }
  return result;
}

}  // namespace idletune::regret
