#include "tests/unit/kernels/covering.hpp"

#include <set>
#include <utility>

#include "models/core/random.hpp"

namespace idletune::kernel_tests {
namespace {

constexpr std::size_t kManyValues = 16;
constexpr int kDrawsPerChoice = 64;
constexpr int kMaxDraws = 2000000;

using Missing = std::set<std::pair<std::size_t, std::int64_t>>;

Missing values_to_cover(const Space& space) {
  Missing missing;
  for (std::size_t p = 0; p < space.parameter_count(); ++p) {
    const auto values = space.parameter_values(p);
    if (values.size() > kManyValues) {
      missing.emplace(p, values[0]);
      missing.emplace(p, values[values.size() - 1]);
      continue;
    }
    for (std::int64_t value : values) missing.emplace(p, value);
  }
  return missing;
}

std::size_t news_of(const Configuration& configuration, const Missing& missing) {
  std::size_t news = 0;
  for (std::size_t p = 0; p < configuration.size(); ++p) {
    news += missing.count({p, configuration[p]});
  }
  return news;
}

}  // namespace

std::vector<Configuration> covering_configurations(const Space& space, std::size_t count,
                                                   std::uint64_t seed, const Cost& cost) {
  Random random(seed);
  Missing missing = values_to_cover(space);
  std::vector<Configuration> chosen;
  int draws = 0;
  while (!missing.empty()) {
    Configuration best;
    std::size_t best_news = 0;
    double best_cost = 0;
    for (int i = 0; i < kDrawsPerChoice || best_news == 0; ++i) {
      if (++draws > kMaxDraws) return {};
      const Configuration drawn = space.sample(random);
      const std::size_t news = news_of(drawn, missing);
      if (news == 0 || news < best_news) continue;
      const double drawn_cost = cost ? cost(drawn) : 0;
      if (news > best_news || drawn_cost < best_cost) {
        best = drawn;
        best_news = news;
        best_cost = drawn_cost;
      }
    }
    for (std::size_t p = 0; p < best.size(); ++p) missing.erase({p, best[p]});
    chosen.push_back(best);
  }
  while (chosen.size() < count) chosen.push_back(space.sample(random));
  return chosen;
}

}  // namespace idletune::kernel_tests
