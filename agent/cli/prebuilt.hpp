// Compiling configurations of a kernel ahead of time, for boards without a compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/result.hpp>

#include "agent/cli/open_device.hpp"

namespace idletune::cli {

struct PrebuiltChoice {
  bool wanted = false;
  DeviceChoice device;       // OpenCL: the device and driver that the binaries are good for
  std::string architecture;  // CUDA instead, without a GPU: "sm_87", or "compute_87" for PTX
  std::string model;         // adds the first entries of its portfolio
  std::uint32_t picks = 8;   // so many of them
  std::vector<std::string> configurations;  // "NAME=VALUE,...": the default with these changes
};

// The package with binaries of the default and reference configurations, of the model's picks and
// of the chosen ones. Errors: invalid_argument (a configuration or architecture that is none),
// those of opening the device or NVRTC, of the model, and of compiling the default or the
// reference. Any other configuration that does not compile is left out and named in `warnings`.
Result<std::vector<std::uint8_t>> add_prebuilt(std::vector<std::uint8_t> package,
                                               const PrebuiltChoice& choice,
                                               std::vector<std::string>& warnings);

}  // namespace idletune::cli
