// Explanations for people and for machines.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <idletune/agent.hpp>

namespace idletune::cli {

// With `digits` after the point; "-" for what is not finite.
std::string format_number(double value, int digits);
// A share of 1 as "12.5 %".
std::string format_percent(double share);
// Milliseconds with three significant digits; "-" for 0 (not measured).
std::string format_milliseconds(double milliseconds);

// The name of the family's kernel that a configuration runs; null: it is of no family.
nlohmann::json member_or_null(const std::string& configuration);
// Every field under its own name.
nlohmann::json explanation_object(const Explanation& explanation);
// Some lines, each ended by a newline.
std::string explanation_text(const Explanation& explanation);

}  // namespace idletune::cli
