#include "models/offload/analysis/branch_windows.hpp"

namespace idletune::offload {
namespace {

constexpr std::uint32_t kSmallest = 16;
constexpr std::uint32_t kLargest = 1024;

}  // namespace

void BranchWindows::decide(std::size_t number, std::uint32_t successor) {
  Site& site = sites_[number];
  if (site.decided == site.begun) {
    site.changed = site.begun;
  } else if (successor != site.last) {
    site.changed = site.decided;
  }
  site.last = successor;
  ++site.decided;
  if (site.decided % kSmallest != 0) return;
  std::uint32_t size = kSmallest;
  for (std::size_t i = 0; i < kSizes && site.decided % size == 0; ++i, size *= 2) {
    if (site.decided < site.begun + size) break;  // its begin was not seen
    site.windows[i] += weight_;
    // A change between the decisions of two windows is one of neither.
    if (site.changed > site.decided - size) site.mixed[i] += weight_;
  }
  if (site.decided == kLargest) site.decided = site.begun = 0;
}

void BranchWindows::restart(const std::vector<std::uint64_t>& executions) {
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    sites_[i].decided = sites_[i].begun = static_cast<std::uint32_t>(executions[i] % kLargest);
  }
}

std::array<double, BranchWindows::kSizes> BranchWindows::diverging(
    const std::vector<std::uint64_t>& executions) const {
  std::array<double, kSizes> shares{};
  std::uint32_t size = kSmallest;
  for (std::size_t i = 0; i < kSizes; ++i, size *= 2) {
    double all = 0, mixed = 0;
    for (std::size_t branch = 0; branch < sites_.size(); ++branch) {
      const Site& site = sites_[branch];
      if (site.windows[i] == 0) continue;
      const auto windows = static_cast<double>(executions[branch] / size);
      all += windows;
      mixed += windows * site.mixed[i] / site.windows[i];
    }
    shares[i] = all == 0 ? 0 : mixed / all;
  }
  return shares;
}

}  // namespace idletune::offload
