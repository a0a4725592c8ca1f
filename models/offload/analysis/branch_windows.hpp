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

  // How many windows each one that ends from now on stands for.
  void set_weight(double weight) { weight_ = weight; }
  // The branch went to its successor of that number.
  void decide(std::size_t site, std::uint32_t successor);
  // A gap in the stream: unfinished windows are given up. The next window of a branch begins where
  // it would without the gap: `executions` were before it.
  void restart(const std::vector<std::uint64_t>& executions);
  // Per size the share of windows whose decisions are not all the same; each branch has as many
  // windows as its executions fill. Branches of which no window was seen are left out.
  std::array<double, kSizes> diverging(const std::vector<std::uint64_t>& executions) const;

 private:
  struct Site {
    std::uint32_t begun = 0;    // place in the window of 2^10 decisions of the first one seen
    std::uint32_t decided = 0;  // place of the next one
    std::uint32_t last = 0;     // successor
    std::uint32_t changed = 0;  // place of the last change
    std::array<double, kSizes> windows{};
    std::array<double, kSizes> mixed{};
  };
  std::vector<Site> sites_;
  double weight_ = 1;
};

}  // namespace idletune::offload
