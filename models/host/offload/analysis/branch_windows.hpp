// Where 32 threads would part: windows of consecutive decisions of one branch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace idletune::offload {

// Needs the changes of direction alone, so it can be told of all of them where nothing else is
// told.
class BranchWindows {
 public:
  static constexpr std::size_t kSizes = 7;  // 2^4 .. 2^10 decisions

  explicit BranchWindows(std::size_t sites) : sites_(sites) {}

  // The decision of that number, from 0, was another one than the one before it.
  void change(std::size_t site, std::uint64_t decision);
  // Per size the share of windows whose decisions are not all the same. `decisions`: of each
  // branch, so far. A window that is not full yet does not count.
  std::array<double, kSizes> diverging(const std::vector<std::uint64_t>& decisions) const;

 private:
  struct Site {
    std::array<std::uint64_t, kSizes> newest{};  // mixed window, its number and one
    std::array<std::uint64_t, kSizes> mixed{};
  };
  std::vector<Site> sites_;
};

}  // namespace idletune::offload
