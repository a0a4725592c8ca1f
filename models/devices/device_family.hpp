// What a device's name says about its kin: facts from the vendors' product lines. Device-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace idletune {

enum class Vendor : std::uint8_t { unknown, nvidia, amd, arm, qualcomm };
enum class Market : std::uint8_t { unknown, data_centre, desktop, embedded };

struct DeviceFamily {
  Vendor vendor = Vendor::unknown;
  Market market = Market::unknown;
  int year = 0;  // in which the architecture appeared; 0: unknown
};
// By the first rule that fits the name ("NVIDIA A100-PCIE-40GB", "Mali-G710", "RTX_2080_Ti"); all
// unknown if none does.
DeviceFamily device_family(std::string_view name);

// How far apart the origins of two families are: 2 for another vendor (1 where one of them is
// unknown), and 0.25 for each year (nothing for an unknown one). Round figures; agent/constants.md
// says how much hangs on them.
double origin_distance(const DeviceFamily& a, const DeviceFamily& b);

}  // namespace idletune
