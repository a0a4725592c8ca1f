// How often a test repeats what chance decides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace idletune::test {

// Under an emulator or the thread sanitizer, which take ten times as long: there the point is that the
// same code runs, not that chance is covered again: cases about nothing else are skipped.
inline bool fewer_repeats() { return std::getenv("IDLETUNE_FEWER_REPEATS") != nullptr; }

// `times`, or a fiftieth of it there.
inline std::uint64_t repeats(std::uint64_t times) {
  return fewer_repeats() ? std::max<std::uint64_t>(1, times / 50) : times;
}

// What campaigns ask for through the environment.
inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace idletune::test
