// Predicted steps of random search against what replayed searches needed: `fractions --predict`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "agent/cli/context.hpp"
#include "models/history/history.hpp"

namespace idletune::cli {

struct PredictionOptions {
  double threshold = 0.9;      // relative performance that counts as well-performing
  std::size_t repeats = 1000;  // replays of random search per device
  std::uint64_t seed = 1;      // of the first
};

// For every device and tuning space among `histories`: the median steps of the replays, and what
// the other devices of the same space predict; as JSON {predictions[], summary{}}, with devices
// whose space no other has in `alone[]`. In a build without the lab it fails.
void report_steps_predictions(const std::vector<History>& histories,
                              const PredictionOptions& options, CliContext& context);

}  // namespace idletune::cli
