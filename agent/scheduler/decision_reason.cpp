#include "agent/scheduler/decision_reason.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
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

constexpr int kMostDigits = 9;

void put(Decision& decision, std::size_t& size, const char* text) {
  while (*text != 0 && size + 1 < sizeof decision.reason_text) {
    decision.reason_text[size++] = *text++;
  }
}

// In the form a % and a character stand for a figure: launches to come (l) and from which on it
// pays (b), the steps (n), what they cost (c) and gain (g), what one may cost at most (h), what a
// launch takes now (t), an estimate of the best (e), the two that are compared (1, 2); 0 is the
// beginning.
void say(Decision& decision, const Terms& terms, const char* form, const char* beginning = nullptr,
         const DurationTexts* compared = nullptr) {
  std::size_t size = 0;
  for (; *form != 0; ++form) {
    const char letter[2] = {*form, 0};
    if (*form != '%') {
      put(decision, size, letter);
      continue;
    }
    double time = 0, count = -1;
    switch (*++form) {
      case '0': put(decision, size, beginning); continue;
      case '1': put(decision, size, compared->longer.text); continue;
      case '2': put(decision, size, compared->shorter.text); continue;
      case 'b': count = decision.break_even_launches; break;
      case 'c': time = decision.cost_ns; break;
      case 'e': time = decision.best_estimate_ns; break;
      case 'g': time = decision.gain_ns; break;
      case 'h': time = terms.step_charge_high; break;
      case 'l': count = terms.launches; break;
      case 'n': count = decision.steps; break;
      default: time = terms.current;
    }
    put(decision, size, count >= 0 ? CountText(count).text : DurationText(time).text);
    if (*form == 'n') put(decision, size, count == 1 ? " more step" : " more steps");
  }
}

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

void explain_untimed(Decision& decision, const Terms& terms) {
  say(decision, terms, "What runs has not been timed here yet: nothing can be compared.");
}

void explain_tune(Decision& decision, const Terms& terms) {
  say(decision, terms,
      "Tuning is expected to pay: %n for %c should gain %g over %l launches; it pays from %b "
      "launches on.");
}

void explain_stop(Decision& decision, const Terms& terms, double search_from,
                  const char* beginning) {
  const bool gains = decision.gain_ns > 0 && !std::isinf(decision.break_even_launches);
  say(decision, terms,
      terms.max_steps < 1     ? "%0: every configuration has been tried."
      : !(terms.launches > 0) ? "%0: no launch is left to gain by it."
      : terms.launches > search_from
          ? "%0: it may gain %g for %c, but a step that finds nothing may cost %h, more than the "
            "overhead limit leaves over %l launches; it would be safe from %b launches on."
      : gains
          ? "%0: %n for %c would gain %g over %l launches; it would pay from %b launches on."
          : "%0: nothing noticeably faster than the present %t per launch is to be expected over "
            "%l launches (estimate of the best: %e).",
      beginning);
}

void explain_first_pick(Decision& decision, const Terms& terms) {
  say(decision, terms,
      "The model's first pick is expected to gain %g over %l launches for %c of checking; "
      "searching beyond it does not pay.");
}

void explain_short_gaps(Decision& decision, const DecisionInput& input, const Terms& terms) {
  const DurationTexts gaps(real_ns_from_0(input.gap_needed), real_ns_from_0(input.longest_gap));
  say(decision, terms,
      "Tuning would pay (gain %g, cost %c), but a stage needs an idle gap of %1 and the usual "
      "longest is %2.",
      nullptr, &gaps);
}

void explain_short_allowance(Decision& decision, const DecisionInput& input, const Terms& terms) {
  const DurationTexts charges(terms.step_charge, real_ns_from_0(*input.allowance));
  say(decision, terms,
      "Tuning would pay (gain %g, cost %c), but the next step is charged %1 and the overhead "
      "limit allows %2 now.",
      nullptr, &charges);
}

}  // namespace idletune::amortization
