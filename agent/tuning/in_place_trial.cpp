#include "agent/tuning/in_place_trial.hpp"

#include <algorithm>
#include <cmath>

#include "agent/scheduler/nanoseconds.hpp"

namespace idletune::detail {
namespace {

StepOptions without_finals(StepOptions options) {
  options.finals = false;
  return options;
}

}  // namespace

InPlaceTrial::InPlaceTrial(const StepOptions& options, const CandidateContext& context,
                           double max_slowdown)
    : before_(without_finals(options), context),
      max_slowdown_(std::max(max_slowdown, 0.001)),
      margin_(options.margin),
      screening_factor_(options.screening_factor) {}

double InPlaceTrial::ratio() const {
  if (pairs() == 0) return before_.ratio();
  return real_ns(raw_candidate_median()) / real_ns(raw_incumbent_median());
}

std::uint32_t InPlaceTrial::period() const {
  constexpr double kUnknown = 3.0;
  const double excess = (ratio() > 0 ? ratio() : kUnknown) - 1;
  const double launches = excess <= 0 ? 2 : std::ceil(excess / max_slowdown_ - 1e-9);
  return static_cast<std::uint32_t>(std::clamp(launches, 2.0, 100000.0));
}

TrialVerdict InPlaceTrial::verdict() const {
  if (!built_) return TrialVerdict::reject_failed;
  if (before_.verdict() != TrialVerdict::adopt) return before_.verdict();
  if (pairs() >= kFirstLook && ratio() > screening_factor_) return TrialVerdict::reject_slow;
  if (pairs() < kSamples) return TrialVerdict::pending;
  return ratio() <= 1 - margin_ ? TrialVerdict::adopt : TrialVerdict::reject_slow;
}

Nanoseconds InPlaceTrial::candidate_time() const {
  if (pairs() == 0) return before_.candidate_time();
  return from_ns(real_ns(before_.context().incumbent_time) * ratio());
}

}  // namespace idletune::detail
