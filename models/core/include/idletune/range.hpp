// How many work items a launch has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace idletune {

// An N-dimensional range. `global` is a multiple of `local` in every dimension; both in work items.
struct Range {
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{1, 1, 1};
  std::uint32_t dimensions = 1;
};

}  // namespace idletune
