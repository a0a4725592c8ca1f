#include "agent/scheduler/stage_estimates.hpp"

#include <algorithm>
#include <cmath>

#include "agent/scheduler/nanoseconds.hpp"
#include "models/core/order.hpp"

namespace idletune {
namespace {

Nanoseconds host_part(const TrialOutcome& outcome) {
  return std::max(Nanoseconds{0}, outcome.wall - outcome.device);
}

// A configuration that was timed may still run a little slower the next time.
constexpr double kOwnRunSlack = 1.2;
// Beyond compile, one check and screening: the share of candidates that go on to the finals.
constexpr double kFinalsShare = 1.25;
// Runs of a candidate that goes all the way: a second check, and pairs with the incumbent until the
// first look.
constexpr double kFinalRuns = 12;
// Timed runs of a baseline, as ReferenceBaseline makes them.
constexpr std::uint32_t kBaselineRuns = 5;

// See relaxed().
constexpr std::uint32_t kPatience = 10;  // gaps
constexpr std::uint32_t kMaxRounds = 40;
constexpr double kLeastShare = 1.0 / 8;
constexpr double kLeastShareOfFew = 1.0 / 64;

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
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(size_);
  if (size_ < kEnough) {
    return *std::max_element(sorted.begin(), end) * (1.0 + 1.0 / static_cast<double>(size_));
  }
  const std::size_t rank = (9 * (size_ + 1) + 9) / 10;  // ceil(0.9 (n + 1)), counted from 1
  sort_ascending(Span<double>(sorted.data(), size_));
  return sorted[std::min(rank, size_) - 1];
}

void StageEstimates::Mean::observe(Nanoseconds value) {
  sum_ns += real_ns(value);
  ++count;
}

double StageEstimates::Mean::or_prior(double prior_ns) const {
  return count == 0 ? prior_ns : sum_ns / static_cast<double>(count);
}

StageEstimates::StageEstimates(const StagePriors& priors)
    : priors_(priors), compile_(real_ns(priors.compile)), slowdown_(priors.slowdown) {}

void StageEstimates::observe(const TrialRequest& request, const TrialOutcome& outcome,
                             const StageContext& context) {
  if (request.stage != outcome.stage || outcome.wall.count() < 0) return;
  switch (request.stage) {
    case TrialStage::compile:
      compile_.observe(real_ns(compile_work(outcome)));
      compile_mean_.observe(compile_work(outcome));
      return;
    case TrialStage::prepare:
      if (outcome.status == TrialStatus::correct)
        prepare_overhead_.observe(real_ns(host_part(outcome)));
      return;
    case TrialStage::check:
      check_overhead_.observe(real_ns(host_part(outcome)));
      check_mean_.observe(outcome.wall);
      break;
    case TrialStage::measure:
      measure_mean_.observe(outcome.wall);
      if (!outcome.samples.empty()) {
        measure_overhead_.observe(real_ns(host_part(outcome)) /
                                  static_cast<double>(outcome.samples.size()));
      }
      break;
  }
  const bool candidate = context.own_run.count() <= 0 && context.incumbent_run.count() > 0;
  if (candidate && outcome.device.count() > 0) {
    const std::size_t runs = std::max<std::size_t>(1, outcome.samples.size());
    slowdown_.observe(real_ns(outcome.device) / static_cast<double>(runs) /
                      real_ns(context.incumbent_run));
  }
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
  // All runs but the one that stops the stage are faster than stop_above.
  if (stop > 0 && stop < run) return (runs - 1) * stop + run;
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
    case TrialStage::check: return check_overhead_.count();
    case TrialStage::measure: return measure_overhead_.count();
  }
  return 0;
}

Nanoseconds StageEstimates::relaxed(TrialStage stage, Nanoseconds estimate,
                                    std::uint32_t missed_gaps) const {
  const std::size_t count = observations(stage);
  const double factor = count > 0 ? 0.9 : 0.5;
  const double least = count < HighPercentile::kEnough ? kLeastShareOfFew : kLeastShare;
  const std::uint32_t rounds = std::min(missed_gaps / kPatience, kMaxRounds);
  return from_ns(real_ns(estimate) * std::max(least, std::pow(factor, rounds)));
}

StageEstimates::StepCost StageEstimates::typical_step(const StageContext& context) const {
  const double run =
      context.incumbent_run.count() > 0 ? real_ns(context.incumbent_run) * 2 : real_ns(priors_.run);
  const double check = check_mean_.or_prior(overhead_ns(check_overhead_, context) + run);
  const double measure = measure_mean_.or_prior(real_ns(priors_.overhead) + run);
  StepCost cost;
  cost.cpu = from_ns(compile_mean_.or_prior(real_ns(priors_.compile)));
  cost.device = from_ns((check + measure) * kFinalsShare);
  return cost;
}

StageEstimates::StepCost StageEstimates::high_step(const StageContext& context) const {
  const StepCost typical = typical_step(context);
  TrialRequest request;
  request.stage = TrialStage::compile;
  StepCost cost;
  // A few observations have no 90th percentile yet, and compile times have a long tail.
  const double few = compile_.count() < HighPercentile::kEnough ? 2.0 : 1.0;
  cost.cpu = std::max(from_ns(real_ns(typical.cpu) * few), predict(request, context));
  request.stage = TrialStage::check;
  const Nanoseconds check = predict(request, context);
  request.stage = TrialStage::measure;
  const double incumbent = real_ns(std::max(context.incumbent_run, Nanoseconds{0}));
  cost.device =
      std::max(typical.device, check + predict(request, context)) + from_ns(kFinalRuns * incumbent);
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
  request.stage = TrialStage::measure;
  return std::max(longest, predict(request, context));
}

void StageEstimates::adopt_compile(const StageEstimates& other) {
  if (other.compile_.count() <= compile_.count()) return;
  compile_ = other.compile_;
  compile_mean_ = other.compile_mean_;
}

}  // namespace idletune
