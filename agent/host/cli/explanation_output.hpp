// Explanations for people and for machines.
#pragma once

#include <idletune/agent.hpp>

#include "agent/host/report/numbers.hpp"

namespace idletune::cli {

inline double milliseconds(Nanoseconds time) { return static_cast<double>(time.count()) * 1e-6; }
// With `digits` after the point; "-" for what is not finite.
std::string format_number(double value, int digits);
// A time in the unit that suits it; "not measured" for 0.
std::string measured_time(double milliseconds);
// Three significant digits of milliseconds; "-" for 0.
std::string measured_ms(double milliseconds);

// Why an agent with these options tunes nothing at all; empty: it may.
std::string why_never(const AgentOptions& options);

// The name of the family's kernel that a configuration runs; null: it is of no family.
json member_or_null(const std::string& configuration);
// Every field under its own name.
json explanation_object(const Explanation& explanation);
// Some lines, each ended by a newline.
std::string explanation_text(const Explanation& explanation);

}  // namespace idletune::cli
