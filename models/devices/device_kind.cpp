#include "models/devices/device_kind.hpp"

#include "models/devices/plain_name.hpp"

namespace idletune {

DeviceKind device_kind(std::string_view name) {
  // In the PlainName. Arrays, not pointers, which would have to be relocated when a program starts.
  constexpr char kProcessors[][10] = {"pthread", "cpu",      "processor", "epyc",    "ryzen",
                                      "xeon",    "intelcor", "cortex",    "neoverse"};
  const PlainName plain(name);
  if (plain.text().empty()) return DeviceKind::unknown;
  for (const char* word : kProcessors) {
    if (plain.contains(word)) return DeviceKind::processor;
  }
  return DeviceKind::gpu;
}

}  // namespace idletune
