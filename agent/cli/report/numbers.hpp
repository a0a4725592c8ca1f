// Figures as people read them: as many digits as matter, with their unit.
#pragma once

#include <cstdint>
#include <string>

#include <idletune/configuration.hpp>

namespace idletune::report {

// "18,432".
std::string count_text(std::uint64_t count);
// "1 history", "3 histories".
std::string counted(std::uint64_t count, const std::string& one, const std::string& many);

// Rounded to `digits` significant digits without an exponent where it stays short: "0.0123",
// "1.23", "12,300"; "1.2e-07" and "3.4e+12" beyond; "-" for what is no finite number.
std::string significant(double value, int digits = 3);

// A share as a percentage with three significant digits, the last ones of 99.99 kept: "0.0123 %",
// "45.7 %", "99.95 %", "100 %" for exactly 1. "-" for what is no finite number.
std::string percent_text(double share);

// A time in the unit that suits it: "1.23 \u00B5s", "45.6 ms", "7.89 s", "12 min", "3.4 h".
std::string time_text(double nanoseconds);

// "4096x4096"; "-" for no dimensions.
std::string shape_text(const Shape& shape);

// Short, for axes: "20", "1k", "2.5M", "0.01".
std::string axis_text(double value);

}  // namespace idletune::report
