#include "agent/search/neighbours.hpp"

namespace idletune {

Neighbours::Neighbours(const Space& space) : space_(space) {
  const std::size_t parameters = space.parameter_count();
  for (std::size_t p = 0; p < parameters; ++p) {
    others_.push_back(static_cast<double>(space.parameter_values(p).size()) - 1);
  }
  ways_.assign(parameters + 1, std::vector<double>(kMaxDifferences + 1, 0.0));
  ways_[parameters][0] = 1;
  for (std::size_t p = parameters; p-- > 0;) {
    ways_[p][0] = 1;
    for (std::size_t k = 1; k <= kMaxDifferences; ++k) {
      ways_[p][k] = ways_[p + 1][k] + others_[p] * ways_[p + 1][k - 1];
    }
  }
}

// Each way to change one to kMaxDifferences parameters is as likely as any other.
std::size_t Neighbours::draw_differences(Random& random) const {
  double all = 0;
  for (std::size_t k = 1; k <= kMaxDifferences; ++k) all += ways_[0][k];
  double chosen = random.uniform() * all;
  std::size_t differences = 1;
  while (differences < kMaxDifferences && chosen >= ways_[0][differences]) {
    chosen -= ways_[0][differences++];
  }
  return differences;
}

Configuration Neighbours::change(const Configuration& around, Random& random,
                                 std::size_t left) const {
  Configuration changed = around;
  for (std::size_t p = 0; p < around.size() && left > 0; ++p) {
    if (random.uniform() * ways_[p][left] >= others_[p] * ways_[p + 1][left - 1]) continue;
    const Span<const std::int64_t> values = space_.parameter_values(p);
    const std::size_t kept = space_.value_position(p, around[p]).value_or(0);
    const std::size_t drawn = static_cast<std::size_t>(random.below(values.size() - 1));
    changed[p] = values[drawn < kept ? drawn : drawn + 1];
    --left;
  }
  return changed;
}

std::optional<Configuration> Neighbours::draw(const Configuration& around, Random& random,
                                              int attempts, std::size_t differences) const {
  if (!(ways_[0][1] > 0)) return std::nullopt;  // no parameter has a second value
  while (differences > 0 && !(ways_[0][differences] > 0)) --differences;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::size_t left = differences > 0 ? differences : draw_differences(random);
    const Configuration changed = change(around, random, left);
    if (changed != around && space_.contains(changed)) return changed;
  }
  return std::nullopt;
}

}  // namespace idletune
