// OpenCL devices. The OpenCL library is opened at run time (OpenCL 1.2 is the floor), so programs
// that link idletune also start where there is none. Needs no OpenCL headers: handles are passed as
// void*.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/application_queue.hpp>
#include <idletune/cache_counters.hpp>
#include <idletune/device.hpp>
#include <idletune/result.hpp>

namespace idletune::opencl {

struct OpenOptions {
  // Path or name of the OpenCL library. Empty: the one this process has loaded already, else the
  // usual loader and vendor libraries in turn.
  std::string library;
  // Folder of the compiled-program cache; created (one level) if missing. Empty: `programs` in the
  // state folder of the agent that loads kernels for the device; none where there is no such
  // folder. Any file in it may be deleted at any time, and several processes may share it.
  std::string cache_folder;
  // Upper bound of what the cache keeps; the files unused for longest go first.
  std::uint64_t cache_limit_bytes = 64ull << 20;
};

// Uses the application's cl_context, cl_device_id and cl_command_queue (each retained until the
// device and all its programs and buffers are gone). Tuning work goes to a further queue of our own
// on the same context: a low-priority one where the driver has cl_khr_priority_hints. `queue` may
// be null: then application launches go to a plain queue made here.
//
// Make the queue with CL_QUEUE_PROFILING_ENABLE if you can: a sample of its launches is then timed,
// and what was adopted goes back to the default when it no longer wins. On a queue without it
// (OpenCL's default) production is not watched: what was adopted is compared with the default by
// trials every five minutes, and the kernel time that tuning may draw on, and what counts as saved,
// are at most the time that has passed. Errors: not_found (no OpenCL
// library), invalid_argument (the handles do not belong together), device_error.
Result<std::unique_ptr<Device>> adopt(void* context, void* device_id, void* queue,
                                      const OpenOptions& options = {});

// Opens the device at `index` of `list()` with a context and queues of its own. Errors: not_found
// (no OpenCL library, no such device), device_error.
Result<std::unique_ptr<Device>> open(std::uint32_t index, const OpenOptions& options = {});

// Opens the device whose platform, name and driver equal those of `wanted`, preferring the one at
// wanted.index among several. For a second process that must use the same device. Errors as `open`;
// not_found names the device wanted.
Result<std::unique_ptr<Device>> open_matching(const DeviceInfo& wanted,
                                              const OpenOptions& options = {});

// All devices of all platforms, in the loader's order; `index` is the position in this list. Empty
// where the library finds no platform. Error: not_found (no OpenCL library).
Result<std::vector<DeviceInfo>> list(const OpenOptions& options = {});

// The handles of a device made above; not retained for the caller. All null for other devices.
struct Handles {
  void* context = nullptr;  // cl_context
  void* device = nullptr;   // cl_device_id
  void* queue = nullptr;    // cl_command_queue of application launches
};
Handles handles(Device& device);

// The queue of application launches, with memory and copies. Error: invalid_argument (not a device
// of OpenCL).
Result<std::unique_ptr<ApplicationQueue>> application_queue(Device& device);

using idletune::CacheCounters;
// Of the device's compiled-program cache. Zeros for other devices.
CacheCounters cache_counters(const Device& device);

}  // namespace idletune::opencl
