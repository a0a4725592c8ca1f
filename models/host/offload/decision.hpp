// Should a loop be offloaded? Host side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/host/offload/predictor.hpp"
#include "models/host/offload/profile.hpp"

namespace idletune::offload {

enum class OffloadVerdict : std::uint8_t { offload, keep, unknown };
const char* offload_verdict_name(OffloadVerdict verdict);  // "offload", "keep", "unknown"

// What a GPU costs besides the kernel's time.
struct OffloadCosts {
  double launches = 1;     // still to come; each does all of the sample once
  double transfer_ms = 0;  // per launch; of a region that is entered often, for all of its entries
  double fixed_ms = 0;     // once: compiling and tuning
};

struct OffloadDecision {
  OffloadVerdict verdict = OffloadVerdict::unknown;
  SpeedupPrediction prediction;  // of the kernel alone against the CPU; regrets with all costs
  double kernel_ms = 0;
  double regret_offload_ms = 0;  // expected, over all launches
  double regret_keep_ms = 0;
  double break_even_launches = 0;  // at the predicted time; infinity: never
  std::string reason;              // one sentence
  std::string settled_by;          // of `unknown`: the measurement that would settle it; else empty
};

// Bytes that are copied where each of a region's entries is a launch of its own: what all of them
// touch, for each, but no more than 8 bytes per access.
double bytes_to_copy(const Sample& sample, double entries, double accesses);

// "unknown": iterations depend on each other; too far from every sample; or at either end of the
// deciding interval something else would pay. Else what pays at the predicted time: launches *
// (CPU's time - kernel's - transfer's) against what is spent once.
OffloadDecision decide_offload(const Predictor& predictor, const Sample& sample,
                               Iterations iterations, const OffloadCosts& costs);

// The same where the features could be `others` as well: intervals hold what any of them has, and
// the verdict is one that all agree on.
OffloadDecision decide_offload(const Predictor& predictor, const Sample& sample,
                               const std::vector<std::vector<double>>& others,
                               Iterations iterations, const OffloadCosts& costs);

// Time of a program over that with those regions offloaded that pay: Amdahl's law. `program_ms` is
// the whole program's time on the CPU; each gain is what a region saves of it.
double program_speedup(double program_ms, double gains_ms);

}  // namespace idletune::offload
