// The fastest configurations of a history, and how they rank on other devices. Host side.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/host/history/history.hpp"

namespace idletune {

struct RankedConfiguration {
  struct Elsewhere {
    std::string device;
    std::size_t of = 0;               // correct configurations there
    std::optional<std::size_t> rank;  // 1: the fastest; nothing if it did not run there
    double relative = 0;              // best time there / its time; 0 if it did not run there
  };
  std::size_t row = 0;  // of the history
  std::size_t rank = 0;
  double time_ns = 0;
  double relative = 0;  // best time / its time
  std::vector<Elsewhere> elsewhere;
};

// The `count` fastest correct rows, the fastest first; equal times share the lower rank and are in
// the order of the rows. `elsewhere` has one entry per history of `others` that is about the same
// kernel, shape and parameters (same_kernel) and is not `history` itself.
std::vector<RankedConfiguration> best_configurations(const History& history, std::size_t count,
                                                     const std::vector<const History*>& others);

}  // namespace idletune
