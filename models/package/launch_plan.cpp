#include "models/package/launch_plan.hpp"

namespace idletune {

// Here, since every place that has a plan would repeat them.
LaunchPlan::LaunchPlan() {}  // NOLINT: steps_ is not made ready
LaunchPlan::LaunchPlan(const LaunchPlan& other) { *this = other; }
LaunchPlan& LaunchPlan::operator=(const LaunchPlan& other) {
  count_ = other.count_;
  setup_count_ = other.setup_count_;
  for (std::size_t i = 0; i < count_ + setup_count_; ++i) steps_[i] = other.steps_[i];
  return *this;
}

}  // namespace idletune
