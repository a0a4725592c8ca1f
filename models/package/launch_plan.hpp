// The launches that a configuration of a kernel stands for at a shape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <idletune/range.hpp>
#include <idletune/span.hpp>

#include "models/package/package_specs.hpp"

namespace idletune {

struct PlannedStep {
  StepSpec spec;
  std::uint8_t index = 0;  // as KernelPackage::step counts; 0 for a reference of its own
  Range range;
  std::uint64_t local_memory_bytes = 0;  // as the description computes it, arguments included
};

// The launches that a configuration stands for at a shape, in order on one queue: at least one.
class LaunchPlan {
 public:
  static constexpr std::size_t kMaxSteps = 6;
  LaunchPlan();
  LaunchPlan(const LaunchPlan& other);
  LaunchPlan& operator=(const LaunchPlan& other);
  Span<const PlannedStep> steps() const { return {steps_.data(), count_}; }
  const PlannedStep& first() const { return steps_[0]; }
  // What runs once before them, as long as constant buffers stay the same.
  Span<const PlannedStep> setup() const { return {steps_.data() + count_, setup_count_}; }
  // Both, the setup behind.
  Span<const PlannedStep> all() const { return {steps_.data(), count_ + setup_count_}; }
  void clear() { count_ = setup_count_ = 0; }
  // A new one to be filled in. The setup's after all others; kMaxSteps in all.
  PlannedStep& add(bool of_setup) {
    PlannedStep& step = steps_[count_ + setup_count_];
    ++(of_setup ? setup_count_ : count_);
    return step;
  }

 private:
  union {  // not made ready before they are there: launches plan on their stack
    std::array<PlannedStep, kMaxSteps> steps_;
  };
  std::size_t count_ = 0;
  std::size_t setup_count_ = 0;
};

}  // namespace idletune
