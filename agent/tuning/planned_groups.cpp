#include "agent/tuning/planned_groups.hpp"

#include <algorithm>

#include "models/package/kernel_package.hpp"

namespace idletune {

std::uint64_t PlannedGroups::items(const Configuration& configuration) const {
  LaunchPlan plan;
  if (!package_.plan(shape_, configuration, plan).ok()) return 0;
  std::uint64_t fewest = UINT64_MAX;
  for (const PlannedStep& step : plan.steps()) {
    const std::array<std::size_t, 3>& local = step.range.local;
    fewest = std::min<std::uint64_t>(fewest, local[0] * local[1] * local[2]);
  }
  return fewest;
}

}  // namespace idletune
