#include "agent/host/explore/listed_configurations.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_set>

#include "agent/host/explore/order.hpp"
#include "models/host/pack/member_names.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::explore {
namespace {

// So many draws at most where a member is rare.
constexpr std::uint64_t kDrawsPerSample = 500;

// One part per member of a family; of another kernel the whole space.
std::vector<SpacePart> members_of(const Space& space) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < space.parameter_count(); ++i)
    names.emplace_back(space.parameter_name(i));
  std::optional<std::size_t> choice = space.parameter_index(kMemberParameter);
  if (!choice) {
    if (const auto family = family_names(names)) choice = family->choice;
  }
  if (!choice) return {SpacePart()};
  std::vector<SpacePart> members;
  for (const std::int64_t value : space.parameter_values(*choice)) {
    members.push_back({{*choice, value}});
  }
  return members;
}

bool lies_in(const Configuration& configuration, const SpacePart& part) {
  return std::all_of(part.begin(), part.end(), [&](const auto& pinned) {
    return configuration[pinned.first] == pinned.second;
  });
}

}  // namespace

Result<SpacePart> read_space_part(const Space& space, const std::string& text) {
  SpacePart part;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string pair = text.substr(at, end - at);
    const std::size_t equals = pair.find('=');
    const auto parameter = space.parameter_index(pair.substr(0, equals));
    if (!parameter || equals == std::string::npos) {
      return Status(StatusCode::invalid_argument,
                    "'" + pair + "': expected NAME=VALUE of a tuning parameter");
    }
    const auto values = space.parameter_values(*parameter);
    const auto value = std::find_if(values.begin(), values.end(), [&](std::int64_t each) {
      return std::to_string(each) == pair.substr(equals + 1);
    });
    if (value == values.end()) {
      return Status(StatusCode::invalid_argument,
                    "'" + pair + "': the parameter has no such value");
    }
    part.emplace_back(*parameter, *value);
    at = end + 1;
  }
  return part;
}

Result<std::vector<Configuration>> listed_configurations(const KernelPackage& package,
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
  // By stratum, in the order's order. The list for each number of samples goes on where that for
  // one fewer ended: what only more draws can find comes behind it.
  struct Drawn {
    std::uint64_t samples;  // the least for which it is in the list
    std::size_t rank;       // in its stratum
    std::size_t stratum;
    Configuration configuration;
  };
  std::vector<Drawn> drawn;
  std::vector<std::size_t> count(strata.size(), 0);
  std::size_t full = 0;
  for (std::uint64_t i = 0; i < order->size() && full < strata.size(); ++i) {
    const Configuration configuration = order->at(i);
    for (std::size_t s = 0; s < strata.size(); ++s) {
      if (samples && count[s] >= *samples) continue;
      if (!lies_in(configuration, strata[s])) continue;
      const std::uint64_t least = draws ? i / kDrawsPerSample + 1 : 0;
      drawn.push_back({std::max<std::uint64_t>(least, count[s] + 1), count[s], s, configuration});
      ++count[s];
      if (samples && count[s] == *samples) ++full;
    }
  }
  std::sort(drawn.begin(), drawn.end(), [](const Drawn& a, const Drawn& b) {
    return std::tie(a.samples, a.rank, a.stratum) < std::tie(b.samples, b.rank, b.stratum);
  });
  for (const Drawn& one : drawn) add(one.configuration);
  return chosen;
}

}  // namespace idletune::explore
