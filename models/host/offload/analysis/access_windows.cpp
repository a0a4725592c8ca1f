#include "models/host/offload/analysis/access_windows.hpp"

namespace idletune::offload {

void AccessWindows::access(std::size_t number, std::uint64_t address) {
  Site& site = sites_[number];
  if (site.skip > 0) {
    --site.skip;
    return;
  }
  const std::uint64_t block = address >> 7U;
  if (site.count == 0) {
    site.blocks = 0;
    site.constant = true;
  } else {
    const auto stride = static_cast<std::int64_t>(address - site.last);
    if (site.count == 1) site.stride = stride;
    site.constant = site.constant && stride == site.stride;
  }
  site.last = address;
  bool known = false;
  for (std::uint32_t i = site.blocks; i > 0 && !known; --i) known = site.block[i - 1] == block;
  if (!known) site.block[site.blocks++] = block;
  if (++site.count == kExecutions) finish(site);
}

void AccessWindows::finish(Site& site) {
  site.count = 0;
  site.windows += weight_;
  if (site.blocks == 1) site.sum.coalesced += weight_;
  site.sum.global_bandwidth += weight_ / site.blocks;
  if (!site.constant) return;
  if (site.stride == 0) site.sum.stride0 += weight_;
  const auto bytes = static_cast<std::uint64_t>(site.stride < 0 ? -site.stride : site.stride);
  if (bytes % 4 != 0) return;
  const std::uint64_t words = bytes / 4;
  if (words % 2 == 1) site.sum.no_conflict += weight_;
  if (words >= 1 && words <= 32 && (words & (words - 1)) == 0) {
    site.sum.shared_bandwidth += weight_ / static_cast<double>(words);
  }
}

void AccessWindows::restart(const std::vector<std::uint64_t>& executions) {
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    sites_[i].count = 0;
    sites_[i].skip =
        static_cast<std::uint32_t>((kExecutions - executions[i] % kExecutions) % kExecutions);
  }
}

AccessPattern AccessWindows::pattern(const std::vector<std::uint64_t>& executions) const {
  AccessPattern mean;
  double all = 0;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const Site& site = sites_[i];
    if (site.windows == 0) continue;
    const auto windows = static_cast<double>(executions[i] / kExecutions);
    const double weight = windows / site.windows;
    all += windows;
    mean.stride0 += weight * site.sum.stride0;
    mean.no_conflict += weight * site.sum.no_conflict;
    mean.shared_bandwidth += weight * site.sum.shared_bandwidth;
    mean.global_bandwidth += weight * site.sum.global_bandwidth;
    mean.coalesced += weight * site.sum.coalesced;
  }
  if (all == 0) return AccessPattern();
  mean.stride0 /= all;
  mean.no_conflict /= all;
  mean.shared_bandwidth /= all;
  mean.global_bandwidth /= all;
  mean.coalesced /= all;
  return mean;
}

}  // namespace idletune::offload
