// Figures as people read them: as many digits as matter, with their unit.
#pragma once

#include "agent/host/report/common.hpp"

#include <idletune/configuration.hpp>

namespace idletune::report {

// "18,432".
std::string count_text(std::uint64_t count);
// A count, or a mean of some: "18,432", "18,432.5", "0.0123"; "-" for what is no finite number.
std::string mean_count_text(double count);
// Of what may never be.
template <class Count>
std::string count_or_never(const std::optional<Count>& count) {
  return count ? count_text(static_cast<std::uint64_t>(*count)) : "never";
}
// "1 history", "3 histories".
std::string counted(std::uint64_t count, const std::string& one, const std::string& many);
// "3 rows, 2 columns, 4 entries"; columns where there are not as many, and "symmetric" where it is.
std::string matrix_text(std::uint64_t rows, std::uint64_t columns, std::uint64_t entries,
                        bool symmetric);

// Rounded to `digits` significant digits without an exponent where it stays short: "0.0123",
// "1.23", "12,300"; "1.2e-07" and "3.4e+12" beyond; "-" for what is no finite number.
std::string significant(double value, int digits = 3);

// A share as a percentage with three significant digits, the last ones of 99.99 kept: "0.0123 %",
// "45.7 %", "99.95 %", "100 %" for exactly 1. "-" for what is no finite number.
std::string percent_text(double share);
// The same with a sign: "+1.20 %".
std::string change_text(double share);

// "2 to 5" with that between them, or one of them where both read the same.
std::string range_text(const std::string& low, const std::string& high,
                       const std::string& between = " \u2013 ");

// A time in the unit that suits it: "1.23 \u00B5s", "45.6 ms", "7.89 s", "12 min", "3.4 h".
std::string time_text(double nanoseconds);

// "4096x4096"; "-" for no dimensions.
std::string shape_text(const Shape& shape);
// Its dimensions.
inline json shape_object(const Shape& shape) {
  return std::vector<std::int64_t>(shape.values().begin(), shape.values().end());
}
// The members "shape" and, of one that has some, "features".
json shape_members(const Shape& shape);

// Figures of the command's JSON as people read them; "-" where there is none.

// Whole numbers whole, others with three significant digits.
inline std::string plain(const json& number) {
  if (number.is_number_unsigned()) return count_text(number.get<std::uint64_t>());
  if (!number.is_number()) return "-";
  const double value = number.get<double>();
  return number.is_number_integer() ? mean_count_text(value) : significant(value);
}

inline std::string plain_or_never(const json& number) {
  return number.is_null() ? "never" : plain(number);
}

// Microseconds in the unit that suits them.
inline std::string time_of_us(const json& us) {
  return us.is_number() ? time_text(us.get<double>() * 1e3) : "not measured";
}

inline std::string percent(const json& share) {
  return share.is_number() ? percent_text(share.get<double>()) : "-";
}

}  // namespace idletune::report
