// The features of a stream of operations, as table 2 and section 3 of Ardalani et al. 2015 have
// them. What they mean exactly stands in models/host/offload/README.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/host/offload/analysis/access_windows.hpp"
#include "models/host/offload/analysis/branch_windows.hpp"
#include "models/host/offload/analysis/footprint.hpp"
#include "models/host/offload/analysis/operation.hpp"
#include "models/host/offload/analysis/stream_features.hpp"
#include "models/host/offload/analysis/window_parallelism.hpp"

namespace idletune::offload {

// How often the operations of a program ran, by kind.
std::array<std::uint64_t, kOperationKinds> count_kinds(
    const std::vector<Operation>& operations, const std::vector<std::uint64_t>& executions);

// Fed with what a program does, or with bursts of it. Used by one thread. Memory is bounded by the
// program's code and by the limits that WindowParallelism and Footprint state.
class Analysis {
 public:
  // Operation i has number i; values are below `values`.
  Analysis(const std::vector<Operation>& operations, std::size_t values);

  // Operation `number` runs. `where` is the address of an access. The footprint and the changes of
  // decisions are told apart.
  void execute_in_burst(std::uint32_t number, std::uint64_t where);
  // See BranchWindows::change().
  void change_decision(std::uint32_t number, std::uint64_t decision) {
    branches_.change(site_[number], decision);
  }
  // See WindowParallelism.
  void move_together(const ValueNumber* from, const ValueNumber* to, std::size_t count) {
    parallelism_.move_together(from, to, count);
  }
  // What comes next does not follow what came before. `executions` are those before it, seen here
  // or not: windows of one instruction begin where they would without the gap.
  void restart(const std::vector<std::uint64_t>& executions);
  // How much of the run each operation from now on stands for, where others are left out.
  // `long_weight`: the same of windows of parallelism that are longer than 2048.
  void set_weight(double weight, double long_weight) {
    parallelism_.set_weight(weight, long_weight);
    accesses_.set_weight(weight);
    reuse_.set_weight(weight);
  }

  Footprint& footprint() { return footprint_; }
  const AccessWindows& access_windows() const { return accesses_; }
  // How often each operation was executed here.
  const std::vector<std::uint64_t>& executions() const { return executions_; }

  // In the order of kStreamFeatureNames; finite numbers. `executions` are those of the whole run,
  // of which bursts may have been seen.
  std::array<double, kStreamFeatures> features(const std::vector<std::uint64_t>& executions) const;

 private:
  // Of all executions those of accesses, or those of decisions, by site.
  std::vector<std::uint64_t> of_sites(const std::vector<std::uint64_t>& executions,
                                      bool accesses) const;

  const std::vector<Operation>& operations_;
  std::vector<std::uint32_t> site_;  // of accesses and of decisions, by operation
  std::vector<std::uint64_t> executions_;
  WindowParallelism parallelism_;
  AccessWindows accesses_;
  BranchWindows branches_;
  Footprint footprint_;
  ShortReuse reuse_;
};

}  // namespace idletune::offload
