// How unlike two families of devices are, markets included.
#pragma once

#include "models/devices/device_family.hpp"

namespace idletune {

// origin_distance, and 1 for another market (0.5 where one of them is unknown). A round figure;
// README.md says how much hangs on it.
double family_distance(const DeviceFamily& a, const DeviceFamily& b);

}  // namespace idletune
