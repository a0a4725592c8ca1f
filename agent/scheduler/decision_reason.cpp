#include "agent/scheduler/decision_reason.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "agent/scheduler/nanoseconds.hpp"

namespace idletune::amortization {
namespace {

struct CountText {
  char text[24];
  explicit CountText(double count) {
    if (std::isinf(count)) {
      std::snprintf(text, sizeof text, "no number of");
    } else {
      std::snprintf(text, sizeof text, count < 1e7 ? "%.0f" : "%.2g", std::ceil(count));
    }
  }
};

__attribute__((format(printf, 2, 3))) void say(Decision& decision, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(decision.reason_text, sizeof decision.reason_text, format, arguments);
  va_end(arguments);
}

constexpr int kMostDigits = 9;

// "1 more step", "16 more steps".
struct StepsText {
  char text[40];
  explicit StepsText(double steps) {
    std::snprintf(text, sizeof text, "%s more step%s", CountText(steps).text,
                  steps == 1 ? "" : "s");
  }
};

}  // namespace

DurationText::DurationText(double ns, int digits, bool coarse) {
  const char* unit = "ns";
  double value = ns;
  for (const char* larger : {"us", "ms", "s"}) {
    if (std::fabs(value) < 999.5 && (!coarse || *unit == 'm')) break;
    value /= 1000;
    unit = larger;
  }
  std::snprintf(text, sizeof text, "%.*g %s", digits, value, unit);
  if (std::fabs(value) >= 999.5)
    std::snprintf(text, sizeof text, "%.0f %s", std::min(value, 1e12), unit);
}

DurationTexts::DurationTexts(double longer_ns, double shorter_ns)
    : longer(longer_ns, 3, true), shorter(shorter_ns, 3, true) {
  for (int digits = 4; digits <= kMostDigits && std::strcmp(longer.text, shorter.text) == 0;
       ++digits) {
    longer = DurationText(longer_ns, digits, true);
    shorter = DurationText(shorter_ns, digits, true);
  }
}

void explain_untimed(Decision& decision) {
  say(decision, "What runs has not been timed here yet: nothing can be compared.");
}

void explain_tune(Decision& decision, const Terms& terms) {
  say(decision,
      "Tuning is expected to pay: %s for %s should gain %s over %s launches; it pays from %s "
      "launches on.",
      StepsText(decision.steps).text, DurationText(decision.cost_ns).text,
      DurationText(decision.gain_ns).text, CountText(terms.launches).text,
      CountText(decision.break_even_launches).text);
}

void explain_stop(Decision& decision, const Terms& terms, double search_from,
                  const char* beginning) {
  if (terms.max_steps < 1)
    return say(decision, "%s: every configuration has been tried.", beginning);
  if (!(terms.launches > 0))
    return say(decision, "%s: no launch is left to gain by it.", beginning);
  if (terms.launches > search_from) {
    say(decision,
        "%s: it may gain %s for %s, but a step that finds nothing may cost %s, more than the "
        "overhead limit leaves over %s launches; it would be safe from %s launches on.",
        beginning, DurationText(decision.gain_ns).text, DurationText(decision.cost_ns).text,
        DurationText(terms.step_charge_high).text, CountText(terms.launches).text,
        CountText(decision.break_even_launches).text);
    return;
  }
  if (!(decision.gain_ns > 0) || std::isinf(decision.break_even_launches)) {
    say(decision,
        "%s: nothing noticeably faster than the present %s per launch is to be expected over %s "
        "launches (estimate of the best: %s).",
        beginning, DurationText(terms.current).text, CountText(terms.launches).text,
        DurationText(decision.best_estimate_ns).text);
    return;
  }
  say(decision, "%s: %s for %s would gain %s over %s launches; it would pay from %s launches on.",
      beginning, StepsText(decision.steps).text, DurationText(decision.cost_ns).text,
      DurationText(decision.gain_ns).text, CountText(terms.launches).text,
      CountText(decision.break_even_launches).text);
}

void explain_first_pick(Decision& decision, const Terms& terms) {
  say(decision,
      "The model's first pick is expected to gain %s over %s launches for %s of "
      "checking; searching beyond it does not pay.",
      DurationText(decision.gain_ns).text, CountText(terms.launches).text,
      DurationText(decision.cost_ns).text);
}

void explain_short_gaps(Decision& decision, const DecisionInput& input) {
  const DurationTexts gaps(real_ns_from_0(input.gap_needed), real_ns_from_0(input.longest_gap));
  say(decision,
      "Tuning would pay (gain %s, cost %s), but a stage needs an idle gap of %s and the "
      "usual longest is %s.",
      DurationText(decision.gain_ns).text, DurationText(decision.cost_ns).text, gaps.longer.text,
      gaps.shorter.text);
}

void explain_short_allowance(Decision& decision, const DecisionInput& input, const Terms& terms) {
  const DurationTexts charges(terms.step_charge, real_ns_from_0(*input.allowance));
  say(decision,
      "Tuning would pay (gain %s, cost %s), but the next step is charged %s and the "
      "overhead limit allows %s now.",
      DurationText(decision.gain_ns).text, DurationText(decision.cost_ns).text, charges.longer.text,
      charges.shorter.text);
}

}  // namespace idletune::amortization
