// Arrays beyond this machine's memory: of each allocation of 1 GiB and more (operator new) the
// first 16 MiB and the last 16 to 32 are there, and all between stands on one and the same 16 MiB.
// So both ends keep what is written, and so does the middle where it repeats itself every 2^24
// bytes or a power of two less, unless it is changed in place.
#pragma once

#include <cstddef>

namespace idletune::test {

inline constexpr std::size_t kLong = std::size_t{1} << 30;
inline constexpr std::size_t kPart = std::size_t{16} << 20;

}  // namespace idletune::test
