#include <algorithm>
#include <unordered_set>

#include "agent/explore/order.hpp"
#include "agent/explore/sweep.hpp"

namespace idletune::explore {
namespace {

// So many draws at most where a member is rare.
constexpr std::uint64_t kDrawsPerSample = 500;

// One part per member of a family; of another kernel the whole space.
std::vector<SpacePart> members_of(const Space& space) {
  const auto parameter = space.parameter_index(kMemberParameter);
  if (!parameter) return {SpacePart()};
  std::vector<SpacePart> members;
  for (const std::int64_t value : space.parameter_values(*parameter)) {
    members.push_back({{*parameter, value}});
  }
  return members;
}

bool lies_in(const Configuration& configuration, const SpacePart& part) {
  return std::all_of(part.begin(), part.end(), [&](const auto& pinned) {
    return configuration[pinned.first] == pinned.second;
  });
}

}  // namespace

Result<std::vector<Configuration>> configurations_to_sweep(const KernelPackage& package,
                                                           std::uint64_t seed,
                                                           std::optional<std::uint64_t> samples,
                                                           const std::vector<SpacePart>& parts) {
  const Space& space = package.space();
  std::vector<SpacePart> strata = members_of(space);
  std::vector<Configuration> chosen;
  std::unordered_set<std::uint64_t> keys;
  const auto add = [&](const Configuration& configuration) {
    if (keys.insert(space.key(configuration)).second) chosen.push_back(configuration);
  };
  for (const SpacePart& member : strata) {
    Configuration configuration = package.default_configuration();
    for (const auto& [parameter, value] : member) configuration[parameter] = value;
    if (space.contains(configuration)) add(configuration);
  }
  const std::optional<std::uint64_t> draws =
      samples && !space.indexed() ? std::optional<std::uint64_t>(*samples * kDrawsPerSample)
                                  : std::nullopt;
  if (samples && *samples == 0) return chosen;
  const Result<Order> order = Order::make(space, seed, draws);
  if (!order.ok()) return order.status();
  strata.insert(strata.end(), parts.begin(), parts.end());
  // By stratum, in the order's order.
  std::vector<std::vector<Configuration>> drawn(strata.size());
  std::size_t full = 0;
  for (std::uint64_t i = 0; i < order->size() && full < strata.size(); ++i) {
    const Configuration configuration = order->at(i);
    for (std::size_t s = 0; s < strata.size(); ++s) {
      if (samples && drawn[s].size() >= *samples) continue;
      if (!lies_in(configuration, strata[s])) continue;
      drawn[s].push_back(configuration);
      if (samples && drawn[s].size() == *samples) ++full;
    }
  }
  std::size_t longest = 0;
  for (const auto& list : drawn) longest = std::max(longest, list.size());
  for (std::size_t rank = 0; rank < longest; ++rank) {
    for (const auto& list : drawn) {
      if (rank < list.size()) add(list[rank]);
    }
  }
  return chosen;
}

}  // namespace idletune::explore
