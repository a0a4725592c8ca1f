#include "models/host/offload/analysis/branch_windows.hpp"

namespace idletune::offload {
namespace {

constexpr std::uint64_t kSmallest = 16;

}  // namespace

void BranchWindows::change(std::size_t number, std::uint64_t decision) {
  Site& site = sites_[number];
  std::uint64_t size = kSmallest;
  for (std::size_t i = 0; i < kSizes; ++i, size *= 2) {
    // A change between the decisions of two windows is one of neither.
    if (decision % size == 0) continue;
    const std::uint64_t window = decision / size + 1;
    if (site.newest[i] == window) return;  // and so are the larger ones around it
    site.newest[i] = window;
    ++site.mixed[i];
  }
}

std::array<double, BranchWindows::kSizes> BranchWindows::diverging(
    const std::vector<std::uint64_t>& decisions) const {
  std::array<double, kSizes> shares{};
  std::uint64_t size = kSmallest;
  for (std::size_t i = 0; i < kSizes; ++i, size *= 2) {
    std::uint64_t all = 0, mixed = 0;
    for (std::size_t branch = 0; branch < sites_.size(); ++branch) {
      const Site& site = sites_[branch];
      const std::uint64_t windows = decisions[branch] / size;
      all += windows;
      mixed += site.mixed[i] - (site.newest[i] == windows + 1 ? 1 : 0);
    }
    shares[i] = all == 0 ? 0 : static_cast<double>(mixed) / static_cast<double>(all);
  }
  return shares;
}

}  // namespace idletune::offload
