#include "models/host/offload/decision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/core/number_text.hpp"

namespace idletune::offload {

namespace {

// Saved by a launch if the kernel is that much faster than the CPU.
double gain_ms(const Sample& sample, double log_speedup, const OffloadCosts& costs) {
  return sample.cpu_ms * (1 - std::exp(-log_speedup)) - costs.transfer_ms;
}

bool pays(const Sample& sample, double log_speedup, const OffloadCosts& costs) {
  return costs.launches * gain_ms(sample, log_speedup, costs) > costs.fixed_ms;
}

void widen(LogInterval& interval, const LogInterval& other) {
  interval.low = std::min(interval.low, other.low);
  interval.high = std::max(interval.high, other.high);
}

void explain_unknown(bool dependent, OffloadDecision& decision) {
  const SpeedupPrediction& prediction = decision.prediction;
  const std::string kernel = "time a GPU kernel of this loop once, and learn again with it";
  if (dependent) {
    decision.reason =
        "iterations depend on each other: in parallel this would be another algorithm";
    decision.settled_by = "write the parallel algorithm for the CPU, and profile that";
  } else if (prediction.distance > 1) {
    decision.reason = "no sample is like this one: the nearest, " +
                      prediction.nearest.front().name + ", is " +
                      number_text(prediction.distance, 3) + " times as far as was tried";
    decision.settled_by = kernel;
  } else if (!std::isfinite(prediction.deciding.high)) {
    decision.reason =
        "what was learned from cannot promise few wrong verdicts: its groups are too few, "
        "or too many verdicts about those that were left out were wrong";
    decision.settled_by = "learn from more programs";
  } else {
    decision.reason = "the speed-up may be " + number_text(std::exp(prediction.deciding.low), 3) +
                      " or " + number_text(std::exp(prediction.deciding.high), 3) + " (" +
                      number_text(100 * prediction.level, 3) +
                      " %), and only one of them would pay";
    decision.settled_by = kernel;
  }
}

}  // namespace

const char* offload_verdict_name(OffloadVerdict verdict) {
  switch (verdict) {
    case OffloadVerdict::offload: return "offload";
    case OffloadVerdict::keep: return "keep";
    case OffloadVerdict::unknown: break;
  }
  return "unknown";
}

double bytes_to_copy(const Sample& sample, double entries, double accesses) {
  const double once = static_cast<double>(sample.bytes_in) + static_cast<double>(sample.bytes_out);
  return std::max(once, std::min(entries * once, 8 * accesses));
}

OffloadDecision decide_offload(const Predictor& predictor, const Sample& sample,
                               Iterations iterations, const OffloadCosts& costs) {
  OffloadDecision decision;
  const double per_launch = costs.transfer_ms + costs.fixed_ms / costs.launches;
  decision.prediction = predictor.predict(sample, per_launch / sample.cpu_ms);
  const SpeedupPrediction& prediction = decision.prediction;
  const double all_ms = costs.launches * sample.cpu_ms;
  decision.kernel_ms = sample.cpu_ms * std::exp(-prediction.log_speedup);
  decision.regret_offload_ms = prediction.regret_offload * all_ms;
  decision.regret_keep_ms = prediction.regret_keep * all_ms;
  const double gain = gain_ms(sample, prediction.log_speedup, costs);
  decision.break_even_launches = gain > 0 ? std::max(1.0, std::ceil(costs.fixed_ms / gain))
                                          : std::numeric_limits<double>::infinity();

  const bool dependent = iterations == Iterations::dependent;
  const bool low = pays(sample, prediction.deciding.low, costs);
  const bool high = pays(sample, prediction.deciding.high, costs);
  if (dependent || prediction.distance > 1 || low != high) {
    explain_unknown(dependent, decision);
    return decision;
  }
  decision.verdict = low ? OffloadVerdict::offload : OffloadVerdict::keep;
  const std::string spent = number_text(costs.fixed_ms, 3) + " ms once";
  if (low) {
    decision.reason = "each launch saves about " + number_text(gain, 3) + " ms against " + spent +
                      ", also at the bad end of the interval";
  } else if (gain > 0) {
    decision.reason = "each launch would save about " + number_text(gain, 3) +
                      " ms, too little against " + spent + " in " + number_text(costs.launches, 3) +
                      " launches";
  } else {
    decision.reason = "kernel and transfers would take " +
                      number_text(decision.kernel_ms + costs.transfer_ms, 3) +
                      " ms, the CPU takes " + number_text(sample.cpu_ms, 3);
  }
  return decision;
}

OffloadDecision decide_offload(const Predictor& predictor, const Sample& sample,
                               const std::vector<std::vector<double>>& others,
                               Iterations iterations, const OffloadCosts& costs) {
  OffloadDecision decision = decide_offload(predictor, sample, iterations, costs);
  const OffloadVerdict first = decision.verdict;
  for (const std::vector<double>& features : others) {
    Sample other = sample;
    other.features = features;
    const OffloadDecision so = decide_offload(predictor, other, iterations, costs);
    widen(decision.prediction.interval80, so.prediction.interval80);
    widen(decision.prediction.interval90, so.prediction.interval90);
    widen(decision.prediction.deciding, so.prediction.deciding);
    if (so.verdict != first) decision.verdict = OffloadVerdict::unknown;
  }
  if (decision.verdict == first) return decision;
  decision.reason = "what the code does not say decides: the speed-up may be " +
                    number_text(std::exp(decision.prediction.deciding.low), 3) + " or " +
                    number_text(std::exp(decision.prediction.deciding.high), 3);
  decision.settled_by = "profile a run of it, or give the values that are missing";
  return decision;
}

double program_speedup(double program_ms, double gains_ms) {
  return program_ms / std::max(program_ms - gains_ms, 1e-9 * program_ms);
}

}  // namespace idletune::offload
