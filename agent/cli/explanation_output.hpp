// Explanations for people and for machines.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <idletune/agent.hpp>

namespace idletune::cli {

// With `digits` after the point; "-" for what is not finite.
std::string format_number(double value, int digits);
// Milliseconds with three significant digits; "-" for 0 (not measured).
std::string format_milliseconds(double milliseconds);

// Every field under its own name.
nlohmann::json explanation_object(const Explanation& explanation);
// Some lines, each ended by a newline.
std::string explanation_text(const Explanation& explanation);

}  // namespace idletune::cli
