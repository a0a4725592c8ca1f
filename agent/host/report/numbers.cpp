#include "agent/host/report/numbers.hpp"

#include "models/core/number_text.hpp"

namespace idletune::report {
namespace {

constexpr const char* kNoBreakSpace = "\xC2\xA0";

std::string formatted(const char* format, int digits, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, digits, value);
  return buffer;
}

void trim_zeros(std::string& text) {
  if (text.find('.') == std::string::npos) return;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
}

// Groups the digits before the decimal point by threes.
void group_thousands(std::string& text) {
  const std::size_t first = text[0] == '-' ? 1 : 0;
  const std::size_t end = std::min(text.find('.'), text.size());
  for (std::size_t i = end; i > first + 3; i -= 3) text.insert(i - 3, 1, ',');
}

}  // namespace

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  group_thousands(text);
  return text;
}

std::string mean_count_text(double count) {
  const double size = std::fabs(count);
  if (size < 1e15 && size == std::floor(size)) {
    return (count < 0 ? "-" : "") + count_text(static_cast<std::uint64_t>(size));
  }
  if (!(size >= 10) || size >= 1e15) return significant(count);
  std::string text = formatted("%.*f", 1, count);
  group_thousands(text);
  return text;
}

std::string counted(std::uint64_t count, const std::string& one, const std::string& many) {
  return count_text(count) + kNoBreakSpace + (count == 1 ? one : many);
}

std::string matrix_text(std::uint64_t rows, std::uint64_t columns, std::uint64_t entries,
                        bool symmetric) {
  return counted(rows, "row", "rows") + ", " +
         (rows == columns ? "" : counted(columns, "column", "columns") + ", ") +
         counted(entries, "entry", "entries") + (symmetric ? ", symmetric" : "");
}

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const double size = std::fabs(value);
  if (size < 1e-5 || size >= 1e9) return number_text(value, digits);
  // The exponent after rounding, so that 9.996 takes the digits of 10.
  const std::string scientific = formatted("%.*e", digits - 1, size);
  const char* digits_of_exponent = scientific.c_str() + scientific.find('e') + 1;
  const int exponent = static_cast<int>(std::strtol(digits_of_exponent, nullptr, 10));
  const int decimals = std::max(0, digits - 1 - exponent);
  const double unit = std::pow(10.0, std::max(0, exponent - digits + 1));
  const double rounded = unit > 1 ? std::round(value / unit) * unit : value;
  std::string text = formatted("%.*f", decimals, rounded);
  group_thousands(text);
  return text;
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) return "-";
  const double percent = 100 * share;
  std::string text;
  if (percent > 99 && percent < 100) {
    text = percent >= 99.995 ? "> 99.99" : formatted("%.*f", 2, percent);
  } else {
    text = significant(percent, 3);
  }
  if (text.find('e') == std::string::npos) trim_zeros(text);
  return text + kNoBreakSpace + "%";
}

std::string change_text(double share) { return (share > 0 ? "+" : "") + percent_text(share); }

std::string range_text(const std::string& low, const std::string& high,
                       const std::string& between) {
  return low == high ? low : low + between + high;
}

std::string time_text(double nanoseconds) {
  struct Unit {
    double nanoseconds;
    const char* name;
  };
  constexpr Unit kUnits[] = {
      {3.6e12, "h"}, {6e10, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "\xC2\xB5s"}};
  if (!std::isfinite(nanoseconds)) return "-";
  for (const Unit& unit : kUnits) {
    // Seconds and minutes are easier to compare up to some hundred of them.
    const double least = unit.nanoseconds >= 6e10 ? 2 * unit.nanoseconds : unit.nanoseconds;
    if (std::fabs(nanoseconds) >= 0.9995 * least) {  // as it is after rounding
      return significant(nanoseconds / unit.nanoseconds, 3) + kNoBreakSpace + unit.name;
    }
  }
  return significant(nanoseconds, 3) + kNoBreakSpace + "ns";
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::int64_t dimension : shape.values()) {
    if (!text.empty()) text += 'x';
    text += std::to_string(dimension);
  }
  for (std::size_t i = 0; i < shape.feature_count(); ++i) {
    text += "/" + number_text(shape.feature(i), 6);
  }
  return text.empty() ? "-" : text;
}

json shape_members(const Shape& shape) {
  json members = {{"shape", shape_object(shape)}};
  for (std::size_t i = 0; i < shape.feature_count(); ++i)
    members["features"].push_back(shape.feature(i));
  return members;
}

}  // namespace idletune::report
