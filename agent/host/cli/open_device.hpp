// Which device a verb works on.
#pragma once

#include <idletune/application_queue.hpp>
#include <idletune/device.hpp>

#include "agent/host/cli/command_line.hpp"
#include "models/package/package_specs.hpp"

namespace idletune::cli {

struct DeviceChoice {
  std::string backend = "auto";  // or "opencl", "cuda"
  std::uint32_t index = 0;       // as `idletune devices` lists them
};

// --backend and --device.
void add_device_options(Verb verb, DeviceChoice& choice);

// Opens it. "auto" is CUDA for kernels of that dialect, and for portable ones where there is a CUDA
// device; OpenCL otherwise. Libraries are those of the environment variables; `cache_folder` as
// both back ends take it. Errors: those of opencl::open and cuda::open; unsupported where the build
// lacks the back end.
Result<std::unique_ptr<Device>> open_device(const DeviceChoice& choice, Dialect dialect,
                                            const std::string& cache_folder);

// Compiled programs that could not be kept in the cache folder since it was opened.
std::uint64_t programs_not_kept(const Device& device);

// What such a device's application launches on. Error: unsupported.
Result<std::unique_ptr<ApplicationQueue>> queue_of(Device& device);

}  // namespace idletune::cli
