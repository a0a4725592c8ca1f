#include "agent/tuning/in_place_trial.hpp"

#include <algorithm>
#include <cmath>

namespace idletune::detail {

InPlaceTrial::InPlaceTrial(const StepOptions& options, const Shape& shape,
                           const Configuration& candidate, double max_slowdown)
    : options_(options),
      shape_(shape),
      configuration_(candidate),
      max_slowdown_(std::max(max_slowdown, 0.001)) {}

std::optional<TrialRequest> InPlaceTrial::next() const {
  TrialRequest request;
  request.shape = shape_;
  request.configuration = configuration_;
  request.seed = options_.seeds[std::min<std::size_t>(seed_, options_.seeds.size() - 1)];
  request.deadline = options_.shortest_deadline;
  switch (state_) {
    case State::compile: request.stage = TrialStage::compile; return request;
    case State::prepare: request.stage = TrialStage::prepare; return request;
    case State::check: request.stage = TrialStage::check; return request;
    case State::timing:
    case State::failed: break;
  }
  return std::nullopt;
}

void InPlaceTrial::on_outcome(const TrialOutcome& outcome) {
  if (outcome.status != TrialStatus::correct) {
    status_ = outcome.status;
    state_ = State::failed;
    return;
  }
  switch (state_) {
    case State::compile:
      compile_time_ = outcome.wall;
      state_ = State::prepare;
      break;
    case State::prepare: state_ = State::check; break;
    case State::check:
      state_ = ++seed_ < options_.seeds.size() ? State::prepare : State::timing;
      break;
    case State::timing:
    case State::failed: break;
  }
}

void InPlaceTrial::on_build_failure() {
  status_ = TrialStatus::compile;
  state_ = State::failed;
}

double InPlaceTrial::slowdown() const {
  constexpr double kUnknown = 3.0;
  if (candidate_.count() == 0 || incumbent_.count() == 0) return kUnknown;
  return static_cast<double>(candidate_.median().count()) /
         static_cast<double>(incumbent_.median().count());
}

std::uint32_t InPlaceTrial::period() const {
  const double excess = slowdown() - 1;
  const double launches = excess <= 0 ? 2 : std::ceil(excess / max_slowdown_ - 1e-9);
  return static_cast<std::uint32_t>(std::clamp(launches, 2.0, 100000.0));
}

TrialVerdict InPlaceTrial::verdict() const {
  if (state_ == State::failed) return TrialVerdict::reject_failed;
  if (candidate_.count() >= 1 && incumbent_.count() >= 1 &&
      slowdown() > options_.screening_factor) {
    return TrialVerdict::reject_slow;
  }
  if (candidate_.count() < kSamples || incumbent_.count() < kSamples) return TrialVerdict::pending;
  return slowdown() <= 1 - options_.margin ? TrialVerdict::adopt : TrialVerdict::reject_slow;
}

}  // namespace idletune::detail
