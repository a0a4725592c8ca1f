#include "agent/scheduler/stage_estimates.hpp"

#include <algorithm>
#include <cmath>

#include "agent/scheduler/nanoseconds.hpp"
#include "agent/scheduler/step_plan.hpp"
#include "models/core/order.hpp"

namespace idletune {
namespace {

Nanoseconds host_part(const TrialOutcome& outcome) {
  return std::max(Nanoseconds{0}, outcome.wall - outcome.device);
}

// A configuration that was timed may still run a little slower the next time.
constexpr double kOwnRunSlack = 1.2;
// Deviation of the logarithm of one quantity beforehand, and the observations that it is worth.
constexpr double kUsualDeviation = 0.4;
constexpr double kDeviationCount = 3;
constexpr double kToNinetieth = 1.28;  // standard deviations to the 90th percentile
constexpr std::size_t kFew = 4;
constexpr double kFewFactor = 1.1;
// Of a step's cost: those before weigh less and less.
constexpr std::uint32_t kStepsKept = 24;
// Runs of a candidate that goes all the way: a second check, and pairs with the incumbent until the
// first look.
constexpr int kFinalRuns = 12;
// Of a finalist that is much faster than what runs: the incumbent's part.
constexpr double kFirstRuns = 6;
// Timed runs of a baseline, as ReferenceBaseline makes them.
constexpr std::uint32_t kBaselineRuns = 5;

// See relaxed().
constexpr std::uint32_t kPatience = 10;  // gaps
constexpr std::uint32_t kMaxRounds = 40;
constexpr double kLeastShare = 1.0 / 8;
constexpr double kLeastShareOfFew = 1.0 / 64;
constexpr std::size_t kNotFew = 19;  // from here on the largest one is above the percentile

// As CandidateTrial makes it.
TrialRequest screening(const StageContext& context) {
  const StepOptions options;
  TrialRequest request;
  request.stage = TrialStage::measure;
  request.repeats = options.screening_runs;
  request.stop_above = from_ns(real_ns(context.incumbent_run) * options.screening_factor);
  return request;
}

}  // namespace

Nanoseconds compile_work(const TrialOutcome& outcome) {
  return outcome.processor.count() > 0 ? outcome.processor : outcome.wall;
}

void HighPercentile::observe(double value) {
  if (!(value >= 0) || std::isinf(value)) return;
  ring_[next_] = value;
  next_ = (next_ + 1) % kCapacity;
  size_ = std::min(size_ + 1, kCapacity);
}

double HighPercentile::predict() const {
  if (size_ == 0) return prior_;
  std::array<double, kCapacity> sorted = ring_;
  sort_ascending(Span<double>(sorted.data(), size_));
  const double n = static_cast<double>(size_);
  if (size_ >= kEnough) {
    const double rank = std::min(0.9 * (n + 1), n);  // counted from 1
    const auto below = static_cast<std::size_t>(rank);
    const double next = sorted[std::min(below, size_ - 1)];
    return sorted[below - 1] + (rank - std::floor(rank)) * (next - sorted[below - 1]);
  }
  double mean = 0;
  double squares = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const double value = std::log(std::max(sorted[i], 1e-3));
    const double step = value - mean;
    mean += step / static_cast<double>(i + 1);
    squares += step * (value - mean);
  }
  const double spread = std::sqrt((kDeviationCount * kUsualDeviation * kUsualDeviation + squares) /
                                  (kDeviationCount + n - 1) * (1 + 1 / n));
  return std::max(sorted[size_ - 1] * (size_ < kFew ? kFewFactor : 1.0),
                  std::exp(mean + kToNinetieth * spread));
}

double HighPercentile::mean() const {
  double sum = 0;
  for (std::size_t i = 0; i < size_; ++i) sum += ring_[i];
  return size_ == 0 ? prior_ : sum / static_cast<double>(size_);
}

StageEstimates::StageEstimates(const StagePriors& priors)
    : priors_(priors), compile_(real_ns(priors.compile)), slowdown_(priors.slowdown) {}

void StageEstimates::observe(const TrialRequest& request, const TrialOutcome& outcome,
                             const StageContext& context) {
  if (request.stage != outcome.stage || outcome.wall.count() < 0) return;
  if (request.stage == TrialStage::compile) {
    step_.cpu_ns += real_ns(compile_work(outcome));
  } else if (context.incumbent_run.count() > 0) {
    step_.host_ns += real_ns(host_part(outcome));
    step_.runs += real_ns(outcome.device) / real_ns(context.incumbent_run);
  } else {
    step_.host_ns += real_ns(outcome.wall);
  }
  if (is_death(outcome.status)) return;
  switch (request.stage) {
    case TrialStage::compile: compile_.observe(real_ns(compile_work(outcome))); return;
    case TrialStage::prepare:
      if (outcome.status == TrialStatus::correct)
        prepare_overhead_.observe(real_ns(host_part(outcome)));
      return;
    case TrialStage::check: check_overhead_.observe(real_ns(host_part(outcome))); break;
    case TrialStage::measure:
      if (!outcome.samples.empty()) {
        measure_overhead_.observe(real_ns(host_part(outcome)) /
                                  static_cast<double>(outcome.samples.size()));
      }
      break;
  }
  const bool candidate = context.own_run.count() <= 0 && context.incumbent_run.count() > 0;
  if (candidate && request.stage == TrialStage::check && outcome.device.count() > 0) {
    slowdown_.observe(real_ns(outcome.device) / real_ns(context.incumbent_run));
  }
}

void StageEstimates::step_ended() {
  steps_ = std::min(steps_ + 1, kStepsKept);
  mean_.cpu_ns += (step_.cpu_ns - mean_.cpu_ns) / steps_;
  mean_.host_ns += (step_.host_ns - mean_.host_ns) / steps_;
  mean_.runs += (step_.runs - mean_.runs) / steps_;
  step_ = {};
}

double StageEstimates::run_bound_ns(const StageContext& context) const {
  if (context.own_run.count() > 0) return real_ns(context.own_run) * kOwnRunSlack;
  const double slowdown = std::max(1.0, slowdown_.predict());
  if (context.incumbent_run.count() > 0) return real_ns(context.incumbent_run) * slowdown;
  if (context.reference_run.count() > 0) return real_ns(context.reference_run) * slowdown;
  return real_ns(priors_.run);
}

double StageEstimates::runs_bound_ns(const TrialRequest& request,
                                     const StageContext& context) const {
  double run = run_bound_ns(context);
  if (request.deadline.count() > 0) run = std::min(run, real_ns(request.deadline));
  if (request.stage != TrialStage::measure) return run;
  const double runs = std::max<double>(1, request.repeats);
  const double stop = real_ns(request.stop_above);
  // The first run that is slower than stop_above ends the stage; where none is, all are faster.
  if (stop > 0 && stop < run) return std::max(run, runs * stop);
  return runs * run;
}

double StageEstimates::overhead_ns(const HighPercentile& overhead,
                                   const StageContext& context) const {
  if (overhead.count() > 0) return overhead.predict();
  const double fill = priors_.fill_bytes_per_ns > 0
                          ? static_cast<double>(context.scratch_bytes) / priors_.fill_bytes_per_ns
                          : 0;
  return real_ns(priors_.overhead) + real_ns(priors_.first_launch) + fill;
}

Nanoseconds StageEstimates::predict(const TrialRequest& request,
                                    const StageContext& context) const {
  switch (request.stage) {
    case TrialStage::compile: return from_ns(compile_.predict());
    case TrialStage::prepare: {
      const Nanoseconds reference =
          context.reference_run.count() > 0 ? context.reference_run : context.incumbent_run;
      const double run =
          reference.count() > 0 ? real_ns(reference) * kOwnRunSlack : real_ns(priors_.run);
      return from_ns(overhead_ns(prepare_overhead_, context) + run);
    }
    case TrialStage::check:
      return from_ns(overhead_ns(check_overhead_, context) + runs_bound_ns(request, context));
    case TrialStage::measure: {
      const double runs = std::max<double>(1, request.repeats);
      const double overhead = measure_overhead_.count() > 0 ? measure_overhead_.predict() * runs
                                                            : real_ns(priors_.overhead);
      return from_ns(overhead + runs_bound_ns(request, context));
    }
  }
  return Nanoseconds::max();
}

std::size_t StageEstimates::observations(TrialStage stage) const {
  switch (stage) {
    case TrialStage::compile: return compile_.count();
    case TrialStage::prepare: return prepare_overhead_.count();
    case TrialStage::check: return std::min(check_overhead_.count(), slowdown_.count());
    case TrialStage::measure: return std::min(measure_overhead_.count(), slowdown_.count());
  }
  return 0;
}

Nanoseconds StageEstimates::relaxed(TrialStage stage, Nanoseconds estimate,
                                    std::uint32_t missed_gaps) const {
  const std::size_t count = observations(stage);
  const bool few = count < kNotFew;
  const double factor = count == 0 ? 0.5 : few ? 0.8 : 0.9;
  const double least = few ? kLeastShareOfFew : kLeastShare;
  const std::uint32_t rounds = std::min(missed_gaps / kPatience, kMaxRounds);
  return from_ns(real_ns(estimate) * std::max(least, std::pow(factor, rounds)));
}

StageEstimates::StepCost StageEstimates::typical_step(const StageContext& context) const {
  const double run =
      context.incumbent_run.count() > 0 ? real_ns(context.incumbent_run) : real_ns(priors_.run);
  if (steps_ > 0) return {from_ns(mean_.cpu_ns), from_ns(mean_.host_ns + mean_.runs * run)};
  const double check = overhead_ns(check_overhead_, context);
  const double measure = measure_overhead_.predict();
  return {from_ns(compile_.mean()), from_ns(check + kFirstRuns * (run + measure))};
}

StageEstimates::StepCost StageEstimates::high_step(const StageContext& context) const {
  const StepCost typical = typical_step(context);
  StepCost cost;
  cost.cpu = std::max(typical.cpu, predict(TrialRequest(), context));
  TrialRequest check;
  check.stage = TrialStage::check;
  cost.device =
      std::max(typical.device, predict(check, context) + predict(screening(context), context) +
                                   kFinalRuns * context.incumbent_run);
  return cost;
}

Nanoseconds StageEstimates::baseline(const StageContext& context) const {
  TrialRequest request;
  request.stage = TrialStage::prepare;
  Nanoseconds sum = predict(request, context);
  request.stage = TrialStage::check;
  sum += predict(request, context);
  request.stage = TrialStage::measure;
  request.repeats = kBaselineRuns;
  return sum + predict(request, context);
}

Nanoseconds StageEstimates::longest_device_stage(const StageContext& context) const {
  TrialRequest request;
  request.stage = TrialStage::prepare;
  Nanoseconds longest = predict(request, context);
  request.stage = TrialStage::check;
  longest = std::max(longest, predict(request, context));
  return std::max(longest, predict(screening(context), context));
}

void StageEstimates::adopt_compile(const StageEstimates& other) {
  if (other.compile_.count() > 0) compile_ = other.compile_;
}

}  // namespace idletune
