#include "agent/host/explore/order.hpp"

#include <algorithm>
#include <unordered_set>

namespace idletune::explore {
namespace {

// Draws in a row that brought nothing new before a space counts as exhausted.
constexpr std::uint32_t kMaxFruitlessDraws = 10000;

}  // namespace

Result<Order> Order::make(const Space& space, std::uint64_t seed,
                          std::optional<std::uint64_t> samples) {
  if (!space.indexed() && !samples) {
    return Status(StatusCode::unsupported,
                  "the package does not number its configurations, so they cannot be visited "
                  "without repetition: expected a number of samples");
  }
  Order order(space, seed);
  if (space.indexed()) {
    order.size_ = std::min(space.valid_count(), samples.value_or(space.valid_count()));
    order.whole_ = order.size_ == space.valid_count();
  } else {
    order.draw(seed, *samples);
  }
  if (order.size_ == 0) {
    return Status(StatusCode::invalid_argument, "the space has no valid configuration");
  }
  return order;
}

Order Order::of(const Space& space, std::vector<Configuration> configurations) {
  Order order(space, 0);
  order.size_ = configurations.size();
  order.listed_ = std::move(configurations);
  return order;
}

void Order::draw(std::uint64_t seed, std::uint64_t samples) {
  Random random(seed);
  std::unordered_set<std::uint64_t> seen;
  for (std::uint32_t fruitless = 0; listed_.size() < samples && fruitless < kMaxFruitlessDraws;) {
    const Configuration configuration = space_.sample(random);
    if (configuration.empty()) break;
    fruitless = seen.insert(space_.key(configuration)).second ? 0 : fruitless + 1;
    if (fruitless == 0) listed_.push_back(configuration);
  }
  size_ = listed_.size();
}

Configuration Order::at(std::uint64_t place) const {
  if (!listed_.empty()) return listed_[static_cast<std::size_t>(place)];
  return space_.at(permutation_(place));
}

}  // namespace idletune::explore
