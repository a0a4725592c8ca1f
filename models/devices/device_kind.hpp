// What kind of device a name names. Device-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace idletune {

enum class DeviceKind : std::uint8_t { unknown, processor, gpu };

// Of names as drivers and histories give them: a processor where it says so ("pthread-AMD EPYC
// 7B13", "Intel(R) Xeon(R)", "cpu-cortex-a72"), else a GPU. Unknown only of no name.
DeviceKind device_kind(std::string_view name);

// Whether they are of different kinds, both known.
inline bool of_other_kind(DeviceKind a, DeviceKind b) {
  return a != DeviceKind::unknown && b != DeviceKind::unknown && a != b;
}

}  // namespace idletune
