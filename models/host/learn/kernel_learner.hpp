// One kernel's part of a model, as much of it as its size limit lets. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/host/history/history.hpp"
#include "models/host/learn/held_out.hpp"
#include "models/host/learn/learn.hpp"
#include "models/host/learn/model_contents.hpp"
#include "models/host/learn/performance_table.hpp"
#include "models/host/learn/shape_selector.hpp"

namespace idletune {

// What a kernel's sections are made from, and how much of it is kept.
struct Extent {
  std::size_t shapes = SIZE_MAX;     // per device, as sources
  std::size_t portfolio = SIZE_MAX;  // entries
  std::size_t selector_leaf = 0;     // rows of a leaf, at least; 0: as chosen
  bool selectors = true;
};

// Learns what a kernel's sections hold; what is expensive and does not depend on the extent once.
class KernelLearner {
 public:
  KernelLearner(std::vector<const History*> histories, const LearnOptions& options);

  const PerformanceTable& table() const { return full_; }
  const std::vector<LearnedSelector>& selectors() const { return selectors_; }

  ModelKernel build(const Extent& extent, LearnedKernel& report);

  // Of the last build()'s extent.
  const PerformanceTable& sources_table() const { return reduced_ ? *reduced_ : full_; }

 private:
  std::vector<LearnedSelector> selectors_of(const Extent& extent) const;

  std::vector<const History*> histories_;
  LearnOptions options_;
  PerformanceTable full_;
  std::optional<PerformanceTable> reduced_;
  std::size_t shapes_ = 0;
  std::vector<LearnedSelector> selectors_;
  std::vector<ModelWithout> models_without_;
  std::vector<HeldOutResult> held_out_;
};

// Whether shapes take the room of the few portfolio entries that go before them.
bool starved(const KernelLearner& learner, const LearnedKernel& report, std::size_t wanted,
             const Extent& extent);

// The next smaller extent where `over` bytes must go; false: there is none.
bool reduce(const KernelLearner& learner, const LearnedKernel& report, std::size_t over,
            Extent& extent);

// What the extent leaves out, in words. `wanted`: entries of the portfolio.
std::vector<std::string> describe_dropped(const Extent& extent, const KernelLearner& learner,
                                          const LearnedKernel& report, std::size_t wanted);

}  // namespace idletune
