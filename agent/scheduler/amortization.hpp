// Does tuning pay? Expected gain over the launches still to come against the expected cost of
// finding something better, with a reason that can be read.
//
// The number of steps is formulas 1 and 2 of Olha et al. 2020, section 3. Everything else is ours
// and explained in agent/scheduler/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <idletune/aims.hpp>
#include <idletune/device.hpp>
#include <idletune/span.hpp>
#include <idletune/verdict.hpp>

#include "agent/belief/search_forecast.hpp"
#include "agent/belief/uniform_draws.hpp"

namespace idletune {

// Where the well-performing fraction came from.
enum class FractionOrigin : std::uint8_t { prior = 0, model = 1, measured = 2 };
const char* fraction_origin_name(FractionOrigin origin);

// How much of the promise "never more than `share` above not tuning" is left for one shape; all
// figures of that shape. What tuning has saved so far is kept: nothing may be spent against it.
struct Promise {
  double share = 0.02;
  Nanoseconds untuned{0};       // time of a launch without tuning
  Nanoseconds untuned_past{0};  // what the launches so far would have taken without tuning
  Nanoseconds charged{0};       // for tuning, so far
};

// What tuning may still be charged without having found anything, so that `launches` more of
// `current` keep the promise; never negative.
Nanoseconds left_of(const Promise& promise, Nanoseconds current, double launches);

struct DecisionInput {
  // --- the application ---
  Nanoseconds current{0};        // t_now: device time of a launch as it runs now; 0: not timed yet
  double expected_launches = 0;  // N: launches still to come
  double launches_per_step = 0;  // launches that pass while one step is made (they gain nothing)

  // --- cost ---
  Nanoseconds step_cost{0};  // compile + check + warm-up + repeats of a *typical* configuration
  // A high percentile of it, for the promise; less than step_cost: step_cost.
  Nanoseconds step_cost_high{0};
  double kappa = 1;  // what a millisecond spent on steps is worth against a busy one
  std::optional<Nanoseconds> allowance;  // what the ledger allows to be charged now; none: no limit
  std::optional<Promise> promise;  // kept over the launches still expected; none: not asked for
  Nanoseconds gap_needed{0};       // the longest stage that must fit one gap; 0: everything fits
  Nanoseconds longest_gap{0};  // the longest gap to be expected; 0: unknown, not a reason to wait

  // --- what is known from history (a model) ---
  std::optional<double> first_pick_relative;  // predicted q of a first pick that is to be tried yet
  bool first_pick_running = false;            // what runs now *is* the model's first pick

  // --- what the searcher does next ---
  SearchOutlook outlook;  // without beliefs: uniform draws

  // --- what was measured here ---
  // Their times, best_here and what the beliefs were told are on one scale. A launch takes `clock`
  // times as long now as it took when it was measured.
  double clock = 1;
  const UniformDraws* draws = nullptr;  // not owned; may be null
  Nanoseconds best_here{0};             // fastest correct time seen here by any means; 0: none
  std::uint64_t tried = 0;              // configurations tried here
  std::optional<std::uint64_t> remaining_configurations;  // not tried yet; empty: unknown

  // --- what is wanted ---
  double target_ratio = kWellPerforming;  // r: "well-performing" means q >= r
  double wanted_probability =
      kWantedProbability;  // p_s: chance to have found one after `expected_steps`
  double adoption_margin =
      kAdoptionMargin;  // improvements smaller than this are not adopted: no gain
};

struct Decision {
  Verdict verdict = Verdict::wait;
  // Formula 2: random draws for chance p_s of a well-performing configuration, rounded up; infinity
  // if the fraction is 0.
  double expected_steps = 0;
  double fraction = 0;      // p_b used for it, after what was measured here
  double fraction_low = 0;  // 80 % interval of it
  double fraction_high = 0;
  FractionOrigin fraction_origin = FractionOrigin::prior;
  // The look-ahead: the number of further steps k whose expected net gain is largest (for `stop`,
  // the least loss), what they cost (already times kappa) and what they are expected to gain.
  double steps = 0;
  double cost_ns = 0;
  double gain_ns = 0;
  // Launches from which on the verdict is what it is; of `stop`, from which on it is another.
  // Infinity if it never pays.
  double break_even_launches = 0;
  double best_estimate_ns = 0;  // estimate of t_best on this device, and its 80 % interval
  double best_low_ns = 0;
  double best_high_ns = 0;
  double target_ns = 0;  // t_target = t_best / r
  // One complete sentence with the figures, zero-terminated.
  char reason_text[256] = {};
  std::string_view reason() const { return reason_text; }
};

// The decision. Pure: depends on its argument only; no allocation; a few microseconds. Made anew
// after each measurement. Values out of range (NaN, negative times, quantiles that are not sorted)
// are clamped or ignored, never an error.
Decision decide(const DecisionInput& input);

}  // namespace idletune
