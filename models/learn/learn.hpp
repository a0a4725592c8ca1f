// Learning a model from histories. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>

#include "models/history/history.hpp"

namespace idletune {

struct LearnOptions {
  std::size_t bytes_per_kernel = std::size_t{64} << 10;  // the portfolio is cut to fit
  std::size_t portfolio = 256;                           // entries at most
  std::uint64_t generation = 1;
  bool cross_validate = true;  // leave one device out, when a kernel has at least two
};

// How a model learned without a device does on that device.
struct HeldOutResult {
  std::string device;
  Shape shape;
  double first_pick = 0;        // q of the first pick there; 0: failed
  std::size_t evaluations = 0;  // along the portfolio to 95 % of the best; 0: it does not get there
};

struct LearnedKernel {
  std::string kernel;
  std::vector<std::string> devices;  // one per source
  std::size_t configurations = 0;    // distinct ones over all histories
  std::size_t portfolio = 0;         // entries
  std::size_t bytes = 0;             // in the file
  std::vector<HeldOutResult> held_out;
};

struct LearnedModel {
  std::vector<std::uint8_t> bytes;  // an .itmodel
  std::vector<LearnedKernel> kernels;
  std::vector<std::string> warnings;
};

// Kernels are histories of the same name and the same parameter names (in any order). Histories of
// the same device and shape are repeats: their times are combined by the median. Deterministic.
// Errors: invalid_argument if there is no history, or none with a correct measurement.
Result<LearnedModel> learn(const std::vector<const History*>& histories,
                           const LearnOptions& options);

}  // namespace idletune
