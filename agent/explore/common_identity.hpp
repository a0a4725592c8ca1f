// What explorations of one problem and of many have in common.
#pragma once

#include <string>

#include <idletune/device.hpp>
#include <idletune/text.hpp>

#include "agent/explore/log.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::explore {

// What the results of any exploration of this kernel on this device have in common, and those of
// its settings that all kinds of explorations have.
template <class AnySettings>
Identity common_identity(const KernelPackage& package, const DeviceInfo& device,
                         const AnySettings& settings) {
  return {{"kernel", std::string(package.name())},
          {"package", hexadecimal(package.digest())},
          {"backend", device.backend},
          {"platform", device.platform},
          {"device", device.name},
          {"driver", device.driver},
          {"driver_key", hexadecimal(device.driver_key())},
          {"seed", settings.seed},
          {"checks", settings.checks},
          {"repeats", settings.repeats},
          {"measure_at_most_ns", settings.measure_at_most.count()},
          {"run_deadline_ns", settings.run_deadline.count()}};
}

}  // namespace idletune::explore
