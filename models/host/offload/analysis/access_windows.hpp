// How 32 threads would meet in memory: windows of 32 consecutive executions of one load or store.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace idletune::offload {

// Shares of windows. An access is told by the address of its first byte.
struct AccessPattern {
  double stride0 = 0;  // all at one address
  double no_conflict =
      0;  // a constant stride of an odd number of 4-byte words, forwards or backwards
  double shared_bandwidth = 0;  // sum over i = 0..5 of [constant stride of 2^i words] / 2^i
  double global_bandwidth = 0;  // sum over i = 1..32 of [i blocks of 128 bytes touched] / i
  double coalesced = 0;         // one block of 128 bytes touched
};

class AccessWindows {
 public:
  static constexpr std::uint32_t kExecutions = 32;

  explicit AccessWindows(std::size_t sites) : sites_(sites) {}

  // How many windows each one that ends from now on stands for.
  void set_weight(double weight) { weight_ = weight; }
  void access(std::size_t site, std::uint64_t address);
  // A gap in the stream: unfinished windows are given up. The next window of a site begins where it
  // would without the gap: `executions` were before it.
  void restart(const std::vector<std::uint64_t>& executions);
  // Of all windows, each site with as many windows as its executions fill. Sites of which no window
  // was seen are left out. Zeros without any window.
  AccessPattern pattern(const std::vector<std::uint64_t>& executions) const;
  // Whether there was a window.
  bool any() const {
    return std::any_of(sites_.begin(), sites_.end(),
                       [](const Site& site) { return site.windows > 0; });
  }

 private:
  struct Site {
    std::uint32_t skip = 0;    // executions that belong to a window before
    std::uint32_t count = 0;   // of the window's executions so far
    std::uint32_t blocks = 0;  // different ones
    bool constant = true;      // the stride
    std::uint64_t last = 0;
    std::int64_t stride = 0;
    std::array<std::uint64_t, kExecutions> block{};
    double windows = 0;  // and their sums: by weight
    AccessPattern sum;
  };
  void finish(Site& site);

  std::vector<Site> sites_;
  double weight_ = 1;
};

}  // namespace idletune::offload
