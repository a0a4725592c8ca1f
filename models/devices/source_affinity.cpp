#include "models/devices/source_affinity.hpp"

#include <cmath>

#include "models/devices/device_family.hpp"

namespace idletune {
namespace {

constexpr double kOtherVendor = 2;
constexpr double kPerYear = 0.25;

}  // namespace

double source_affinity(std::string_view device, std::string_view source) {
  const DeviceFamily here = device_family(device);
  const DeviceFamily there = device_family(source);
  double distance = 0;
  if (here.vendor == Vendor::unknown || there.vendor == Vendor::unknown) {
    distance += kOtherVendor / 2;
  } else if (here.vendor != there.vendor) {
    distance += kOtherVendor;
  }
  if (here.year > 0 && there.year > 0) distance += kPerYear * std::abs(here.year - there.year);
  return std::exp(-distance);
}

}  // namespace idletune
