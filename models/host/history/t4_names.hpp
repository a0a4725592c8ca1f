// How what the T4 format calls its times is called in our histories, where it has Kernel Tuner's
// names (they are the same things). Host side.
#pragma once

#include <string>

namespace idletune {

struct T4Name {
  const char* t4;     // in "times"
  const char* extra;  // the history's column
};
inline constexpr T4Name kT4Times[] = {{"framework", "framework_time"},
                                      {"search_algorithm", "strategy_time"},
                                      {"validation", "verification_time"},
                                      {"benchmark", "benchmark_time"},
                                      {"data", "data_movement_time"}};
// Before the name of any other of its times.
inline constexpr const char* kT4TimePrefix = "times.";
// After a measurement's name: its unit, where the file gives one.
inline constexpr const char* kT4UnitSuffix = ".unit";

inline std::string extra_of_t4_time(const std::string& name) {
  for (const T4Name& known : kT4Times) {
    if (name == known.t4) return known.extra;
  }
  return kT4TimePrefix + name;
}

}  // namespace idletune
