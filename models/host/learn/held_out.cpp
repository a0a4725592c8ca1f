#include "models/host/learn/held_out.hpp"

#include <algorithm>
#include <cstddef>

#include "models/devices/device_names.hpp"
#include "models/host/learn/device_weights.hpp"
#include "models/host/learn/rank.hpp"

namespace idletune {
namespace {

constexpr double kReached = 0.95;  // of the best: where held-out evaluations are counted to

HeldOutResult evaluate(const PerformanceTable& table, std::size_t target) {
  const PerformanceTable::Source& source = table.sources()[target];
  std::vector<double> weights = device_weights(table);
  for (std::size_t s = 0; s < weights.size(); ++s) {
    if (same_device_model(table.sources()[s].device, source.device)) weights[s] = 0;
  }
  HeldOutResult result;
  result.device = source.device;
  result.shape = source.shape;
  // What was not measured on the target could not be tried there either.
  std::vector<double> allowed = desirability(table, weights);
  for (std::size_t c = 0; c < allowed.size(); ++c) {
    if (source.relative[c] < 0) allowed[c] = -1;
  }
  result.first_pick =
      static_cast<double>(std::max(0.0f, source.relative[index_of_largest(allowed)]));
  std::size_t tried = 0;
  for (const std::size_t c : portfolio(table, weights, 1024)) {
    if (source.relative[c] < 0) continue;
    ++tried;
    if (static_cast<double>(source.relative[c]) < kReached) continue;
    result.evaluations = tried;
    break;
  }
  return result;
}

}  // namespace

std::vector<HeldOutResult> cross_validate(const PerformanceTable& table) {
  std::vector<HeldOutResult> results;
  for (std::size_t target = 0; target < table.sources().size(); ++target) {
    const bool others =
        std::any_of(table.sources().begin(), table.sources().end(),
                    [&](const PerformanceTable::Source& source) {
                      return !same_device_model(source.device, table.sources()[target].device);
                    });
    if (others) results.push_back(evaluate(table, target));
  }
  return results;
}

}  // namespace idletune
