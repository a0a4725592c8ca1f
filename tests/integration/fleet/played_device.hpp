// The device that programs without a driver play the kernel of play.xml on.
#pragma once

#include <string>

#include "tests/unit/agent/played_times.hpp"
#include "tests/unit/trial/fake_device.hpp"

namespace idletune::test {

inline void make_played(fake::Device& device) {
  device.device_info.platform = "test";
  device.device_info.name = "board";
  device.device_info.driver = "1";
  device.kernels["play"] = [](const fake::Launch&) { return Status(); };
  device.launch_script = [](const std::string& options) -> Result<Nanoseconds> {
    return played_time(fake::option(options, "A"), fake::option(options, "B"));
  };
}

}  // namespace idletune::test
