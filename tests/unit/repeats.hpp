// How often a test repeats what chance decides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace idletune::test {

// `times` on the processor that the tests were built for, a tenth of it under an emulator: there
// the point is that the same code runs on another architecture, not that chance is covered again.
inline std::uint64_t repeats(std::uint64_t times) {
  return std::getenv("IDLETUNE_EMULATED") != nullptr ? std::max<std::uint64_t>(1, times / 10)
                                                     : times;
}

}  // namespace idletune::test
