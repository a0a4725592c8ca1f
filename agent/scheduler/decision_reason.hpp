// Says a decision in one sentence with its figures.
#pragma once

#include "agent/scheduler/look_ahead.hpp"

namespace idletune::amortization {

// "1.25 us" and the like, for people. `coarse`: in milliseconds or more.
struct DurationText {
  explicit DurationText(double ns, int digits = 3, bool coarse = false);
  char text[24];
};

// Two of them for a sentence that compares them, with as many digits as tell them apart.
struct DurationTexts {
  DurationTexts(double longer_ns, double shorter_ns);
  DurationText longer, shorter;
};

void explain_untimed(Decision& decision, const Terms& terms);
void explain_tune(Decision& decision, const Terms& terms);
void explain_first_pick(Decision& decision, const Terms& terms);
// `search_from`: launches from which on it would pay but for the promise. `beginning` starts the
// sentence.
void explain_stop(Decision& decision, const Terms& terms, double search_from,
                  const char* beginning);
void explain_short_gaps(Decision& decision, const DecisionInput& input, const Terms& terms);
void explain_short_allowance(Decision& decision, const DecisionInput& input, const Terms& terms);

}  // namespace idletune::amortization
