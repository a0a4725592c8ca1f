#include "models/devices/source_affinity.hpp"

#include <cmath>

#include "models/devices/device_family.hpp"

namespace idletune {

double source_affinity(std::string_view device, std::string_view source) {
  return std::exp(-origin_distance(device_family(device), device_family(source)));
}

}  // namespace idletune
