// Units of time as results files name them. Host side.
#pragma once

#include <optional>
#include <string>

namespace idletune {

inline constexpr double kMillisecond = 1e6;  // ns

struct TimeUnit {
  double nanoseconds;  // per unit
  bool mistyped;       // the word had to be guessed
};
// "milliseconds", "ms", "Microseconds", ... in any case; a full word with up to two wrong, missing
// or additional letters, the first one being right, is recognised as mistyped if it is close to one
// unit only. Nothing for any other.
std::optional<TimeUnit> time_unit_from(const std::string& word);

// The full word ("milliseconds") for a unit, or null if it has none.
const char* time_unit_word(double nanoseconds_per_unit);

}  // namespace idletune
