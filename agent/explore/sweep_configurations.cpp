#include <algorithm>
#include <map>
#include <unordered_set>

#include "agent/explore/order.hpp"
#include "agent/explore/sweep.hpp"

namespace idletune::explore {
namespace {

// So many draws at most where a member is rare.
constexpr std::uint64_t kDrawsPerSample = 500;

std::vector<std::int64_t> members_of(const Space& space) {
  const auto parameter = space.parameter_index(kMemberParameter);
  if (!parameter) return {0};
  const auto values = space.parameter_values(*parameter);
  return {values.begin(), values.end()};
}

std::int64_t member_of(const Space& space, const Configuration& configuration) {
  const auto parameter = space.parameter_index(kMemberParameter);
  return parameter ? configuration[*parameter] : 0;
}

}  // namespace

Result<std::vector<Configuration>> configurations_to_sweep(const KernelPackage& package,
                                                           std::uint64_t seed,
                                                           std::optional<std::uint64_t> samples) {
  const Space& space = package.space();
  const std::vector<std::int64_t> members = members_of(space);
  std::vector<Configuration> chosen;
  std::unordered_set<std::uint64_t> keys;
  const auto add = [&](const Configuration& configuration) {
    if (keys.insert(space.key(configuration)).second) chosen.push_back(configuration);
  };
  for (const std::int64_t member : members) {
    Configuration configuration = package.default_configuration();
    if (const auto parameter = space.parameter_index(kMemberParameter)) {
      configuration[*parameter] = member;
    }
    if (space.contains(configuration)) add(configuration);
  }
  const std::optional<std::uint64_t> draws =
      samples && !space.indexed() ? std::optional<std::uint64_t>(*samples * kDrawsPerSample)
                                  : std::nullopt;
  if (samples && *samples == 0) return chosen;
  const Result<Order> order = Order::make(space, seed, draws);
  if (!order.ok()) return order.status();
  // By member, in the order's order.
  std::map<std::int64_t, std::vector<Configuration>> drawn;
  std::size_t full = 0;
  for (std::uint64_t i = 0; i < order->size() && full < members.size(); ++i) {
    const Configuration configuration = order->at(i);
    std::vector<Configuration>& of_member = drawn[member_of(space, configuration)];
    if (samples && of_member.size() >= *samples) continue;
    of_member.push_back(configuration);
    if (samples && of_member.size() == *samples) ++full;
  }
  std::size_t longest = 0;
  for (const auto& [member, list] : drawn) longest = std::max(longest, list.size());
  for (std::size_t rank = 0; rank < longest; ++rank) {
    for (const std::int64_t member : members) {
      if (rank < drawn[member].size()) add(drawn[member][rank]);
    }
  }
  return chosen;
}

}  // namespace idletune::explore
