// How often a test repeats what chance decides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace idletune::test {

// `times`, or a tenth of it under an emulator or the thread sanitizer, which take ten times as
// long: there the point is that the same code runs, not that chance is covered again.
inline std::uint64_t repeats(std::uint64_t times) {
  return std::getenv("IDLETUNE_FEWER_REPEATS") != nullptr ? std::max<std::uint64_t>(1, times / 10)
                                                          : times;
}

}  // namespace idletune::test
