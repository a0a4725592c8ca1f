// How long the next stage of a trial will take at most, so that it starts only where it fits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <idletune/device.hpp>

#include "agent/trial/trial.hpp"

namespace idletune {

// The last observations of one quantity and a high percentile of the next one, which the next
// observation of an unchanged quantity exceeds with a chance of some 10 %. With n observations:
// none, the prior; fewer than 9, that of a log-normal distribution, or the largest (times 1.1 of
// fewer than 4) where that is more; else between the order statistics at rank 0.9 (n + 1) of the
// last kCapacity.
class HighPercentile {
 public:
  static constexpr std::size_t kCapacity = 24;
  static constexpr std::size_t kEnough = 9;  // for an order statistic

  explicit HighPercentile(double prior = 0) : prior_(prior) {}
  void observe(double value);  // negative or NaN: ignored
  double predict() const;
  double mean() const;  // of the last kCapacity; without any, the prior
  std::size_t count() const { return size_; }

 private:
  std::array<double, kCapacity> ring_{};
  std::size_t size_ = 0;
  std::size_t next_ = 0;
  double prior_;
};

// What is assumed before anything was observed. Generous on purpose: an estimate that is too high
// only delays the first step, one that is too low disturbs the application. Once a gap was long
// enough for a stage, observation replaces the prior.
struct StagePriors {
  Nanoseconds compile{std::chrono::milliseconds(600)};
  Nanoseconds overhead{std::chrono::milliseconds(2)};  // of prepare, check and measure besides runs
  // Of a variant at a shape, besides the code generation, which is part of the compile stage.
  Nanoseconds first_launch{std::chrono::milliseconds(5)};
  double fill_bytes_per_ns = 0.5;  // filling and comparing scratch buffers
  double slowdown = 5.0;           // a slow candidate's run time over the incumbent's
  Nanoseconds run{std::chrono::milliseconds(20)};  // one run, where nothing has been timed yet
};

// What a compilation is charged for: the processor time that it had where that is known, so that an
// application which keeps the processors busy is not charged for its tuner's waiting; else the
// wall-clock time.
Nanoseconds compile_work(const TrialOutcome& outcome);

// What the duration of a stage depends on.
struct StageContext {
  Nanoseconds incumbent_run{0};     // device time of what runs now; 0: unknown
  Nanoseconds reference_run{0};     // of the reference, for prepare; 0: as the incumbent
  Nanoseconds own_run{0};           // of the configuration itself if it was measured; 0: not yet
  std::uint64_t scratch_bytes = 0;  // of the shape: filled by prepare, compared by check
};

// One per (kernel, shape). Compile times do not depend on the shape: `adopt_compile` hands on what
// another shape of the kernel has seen. One thread at a time.
class StageEstimates {
 public:
  explicit StageEstimates(const StagePriors& priors = {});

  // A stage of `request` has ended as `outcome`; `context` as given to predict. Deaths cost, but
  // do not say how long others take.
  // How slow candidates are is learned from first checks: contexts without an own run.
  void observe(const TrialRequest& request, const TrialOutcome& outcome,
               const StageContext& context);
  // The 90th percentile of how long `request` will take in all (wall-clock; of a compilation, what
  // it will be charged for).
  Nanoseconds predict(const TrialRequest& request, const StageContext& context) const;
  // On how many observations predict() for this stage of a candidate rests, at most kCapacity; 0:
  // on a prior.
  std::size_t observations(TrialStage stage) const;
  // An estimate that keeps a stage from running would never be corrected by an observation, so it
  // relaxes with the gaps in a row that were too short: with every ten of them a prior by half, an
  // observation by a tenth, down to an eighth. One disturbed stage must not rule out all that
  // follow: while one may be the percentile, it relaxes by a fifth, down to a sixty-fourth.
  Nanoseconds relaxed(TrialStage stage, Nanoseconds estimate, std::uint32_t missed_gaps) const;
  // The stages observed since the last call were a step; or no step (a baseline, say).
  void step_ended();
  void no_step() { step_ = {}; }
  // What a whole step is expected to cost: the mean of the steps, the last some 24 weighing most;
  // before the first one, of a finalist. The device's part goes with what runs now. Processor and
  // device apart, since they are charged apart.
  struct StepCost {
    Nanoseconds cpu{0};
    Nanoseconds device{0};
  };
  StepCost typical_step(const StageContext& context) const;
  // The same, each part at its high percentile: what one step may cost at most.
  StepCost high_step(const StageContext& context) const;
  // What measuring the default before any step takes on the device at most: ReferenceBaseline's
  // prepare, check and runs together.
  Nanoseconds baseline(const StageContext& context) const;
  // The longest single stage of a step that needs the device: what a gap must offer.
  Nanoseconds longest_device_stage(const StageContext& context) const;
  void adopt_compile(const StageEstimates& other);

 private:
  double run_bound_ns(const StageContext& context) const;
  double runs_bound_ns(const TrialRequest& request, const StageContext& context) const;
  double overhead_ns(const HighPercentile& overhead, const StageContext& context) const;

  StagePriors priors_;
  HighPercentile compile_;
  HighPercentile prepare_overhead_;  // what the stage takes besides time on the device
  HighPercentile check_overhead_;
  HighPercentile measure_overhead_;  // per run
  HighPercentile slowdown_;
  struct Step {
    double cpu_ns = 0;
    double host_ns = 0;  // of stages that need the device
    double runs = 0;     // on the device, in runs of the incumbent
  };
  Step step_;  // so far
  Step mean_;
  std::uint32_t steps_ = 0;
};

}  // namespace idletune
