// How much a historical device says about another one, before anything was measured there.
#pragma once

#include <string_view>

namespace idletune {

// The weight of a history made on `source` for `device`, in (0, 1]: e^-distance, a step of 2 for
// another vendor (1 where one of them is unknown) and 0.25 for each year between the architectures.
// By the names alone (models/devices/device_family); 1 for names that say nothing of either kind
// only if both are of the same vendor. Constants and how they were chosen:
// models/predict/README.md.
double source_affinity(std::string_view device, std::string_view source);

}  // namespace idletune
