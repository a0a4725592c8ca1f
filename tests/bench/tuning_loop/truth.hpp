// How good a configuration of the blur is, beside the best ones of the whole space.
#pragma once

#include <string>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>

namespace idletune::bench {

struct Comparison {
  double us = 0;       // a run of the configuration
  double best_us = 0;  // of the fastest of the best ones
  std::string best;    // which that is
  double above_best() const { return us / best_us - 1; }
};

// `history` was measured over the whole space; its fastest `rows`, which may be the best of today,
// and the configuration run side by side. Throws std::runtime_error.
Comparison compare_with_best(Device& device, const std::string& history,
                             const Configuration& configuration, std::size_t rows);

}  // namespace idletune::bench
