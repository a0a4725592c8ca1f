#include "models/host/learn/device_weights.hpp"

#include <algorithm>
#include <string>

#include "models/devices/device_names.hpp"

namespace idletune {
namespace {

// How many sources each one's device has.
std::vector<std::size_t> sources_of_device(const PerformanceTable& table) {
  std::vector<std::string> names;
  std::vector<std::size_t> counts;
  std::vector<std::size_t> device;
  for (const auto& source : table.sources()) {
    std::size_t at = 0;
    while (at < names.size() && !same_device_model(names[at], source.device)) ++at;
    if (at == names.size()) {
      names.push_back(source.device);
      counts.push_back(0);
    }
    ++counts[at];
    device.push_back(at);
  }
  for (std::size_t& number : device) number = counts[number];
  return device;
}

}  // namespace

std::vector<double> device_weights(const PerformanceTable& table) {
  std::vector<double> weights;
  for (const std::size_t count : sources_of_device(table))
    weights.push_back(1.0 / static_cast<double>(count));
  return weights;
}

std::size_t most_shapes_of_a_device(const PerformanceTable& table) {
  const std::vector<std::size_t> counts = sources_of_device(table);
  return *std::max_element(counts.begin(), counts.end());
}

}  // namespace idletune
