// Where 32 threads would part: windows of consecutive decisions of one branch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace idletune::offload {

class BranchWindows {
 public:
  static constexpr std::size_t kSizes = 7;  // 2^4 .. 2^10 decisions

  explicit BranchWindows(std::size_t sites) : sites_(sites) {}

  // The branch went to its successor of that number.
  void decide(std::size_t site, std::uint32_t successor);
  // A gap in the stream: unfinished windows are given up.
  void restart();
  // Per size the share of windows whose decisions are not all the same; each branch has as many
  // windows as its executions fill. Branches of which no window was seen are left out.
  std::array<double, kSizes> diverging(const std::vector<std::uint64_t>& executions) const;

 private:
  struct Site {
    std::uint32_t decided = 0;  // in the window of 2^10 decisions
    std::uint32_t last = 0;     // successor
    std::uint32_t changed = 0;  // how many decisions before the last change, in that window
    std::array<std::uint64_t, kSizes> windows{};
    std::array<std::uint64_t, kSizes> mixed{};
  };
  std::vector<Site> sites_;
};

}  // namespace idletune::offload
