// Learning a model from histories. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>

#include "models/host/history/history.hpp"
#include "models/host/learn/published.hpp"
#include "models/host/learn/shape_selector.hpp"

namespace idletune {

struct LearnOptions {
  // All that a kernel takes in the file. What does not fit is dropped, in this order: shapes kept
  // as sources down to 8 per device, portfolio down to 32 entries, leaves of selectors, shapes,
  // entries. What is published is never dropped; times of sparse products know no limit.
  std::size_t bytes_per_kernel = std::size_t{64} << 10;
  std::size_t portfolio = 256;  // entries at most
  std::uint64_t generation = 1;
  bool cross_validate = true;  // leave one device out, when a kernel has at least two
  SelectorOptions selector;
  std::vector<PublishedConfigurations> published;  // evidence without times, kept apart as such
  std::int64_t learned_unix_seconds = 0;           // for the provenance; 0: not recorded
  bool emulated = false;                           // also of histories whose times nobody measured
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
  std::vector<LearnedSelector> selectors;
  std::size_t published = 0;         // configurations
  std::vector<std::string> dropped;  // to stay within bytes_per_kernel
};

struct LearnedModel {
  std::vector<std::uint8_t> bytes;  // an .itmodel
  std::vector<LearnedKernel> kernels;
  std::vector<std::string> warnings;
};

// Whether a model can have the history's names, of kernel and device. Errors: invalid_argument.
Status check_names(const History& history);

// Kernels are histories of the same name, the same parameter names (in any order) and, where both
// say, the same names of inputs. Histories of the same device and shape are repeats: their times
// are combined by the median (of products with sparse matrices: sparse_table.hpp). Deterministic.
// Errors: those of check_names and, unless `emulated`, check_measured; invalid_argument if there is
// neither a history with a correct measurement nor a published configuration; out_of_memory if a
// kernel does not fit its limit whatever is dropped.
Result<LearnedModel> learn(const std::vector<const History*>& histories,
                           const LearnOptions& options);

}  // namespace idletune
