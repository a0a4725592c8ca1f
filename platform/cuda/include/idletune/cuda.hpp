// CUDA devices. The driver and NVRTC are opened at run time, so programs that link idletune also
// start where there is neither, and building needs no CUDA toolkit: handles are passed as void*.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/application_queue.hpp>
#include <idletune/cache_counters.hpp>
#include <idletune/device.hpp>
#include <idletune/result.hpp>

namespace idletune::cuda {

struct OpenOptions {
  // Path or name of the driver library. Empty: libcuda.so.1 and the places Jetsons keep it in.
  std::string library;
  // Path or name of the NVRTC library. Empty: the usual names, that of the driver's CUDA version
  // first. A device without NVRTC runs what is in its program cache and compiles nothing.
  std::string nvrtc_library;
  // Folder of the compiled-program cache; created (one level) if missing. Empty: `programs` in the
  // state folder of the agent that loads kernels for the device; none where there is no such
  // folder. Any file in it may be deleted at any time, and several processes may share it.
  std::string cache_folder;
  // Upper bound of what the cache keeps; the files unused for longest go first.
  std::uint64_t cache_limit_bytes = 64ull << 20;
};

// Uses the application's CUcontext and CUstream. Both stay the application's and must outlive the
// device, its programs and its buffers. `stream` is also what a cudaStream_t is; null is the
// default stream. CU_STREAM_PER_THREAD, which is another stream in each thread, is refused here;
// launches may name it. `context` may be null: then it is the
// stream's context or, for the default streams, the one that is current in the calling thread
// (programs that use the CUDA runtime library have the primary one there). Tuning work goes to a
// stream of our own of the lowest priority, in the same context. Whatever context is current in a
// thread before a call is current after it. Errors: not_found (no driver, no device), unsupported
// (a driver that cannot be used), invalid_argument (the handles do not belong together),
// device_error.
Result<std::unique_ptr<Device>> adopt(void* context, void* stream, const OpenOptions& options = {});

// Opens the device at `index` of `list()` in its primary context, with streams of its own. Errors:
// not_found (no driver, no such device), unsupported (a driver that cannot be used), device_error.
Result<std::unique_ptr<Device>> open(std::uint32_t index, const OpenOptions& options = {});

// Opens the device whose name and driver equal those of `wanted`, preferring the one at
// wanted.index among several. For a second process that must use the same device. Errors as `open`;
// not_found names the device wanted.
Result<std::unique_ptr<Device>> open_matching(const DeviceInfo& wanted,
                                              const OpenOptions& options = {});

// All devices, in the driver's order; `index` is the position in this list. Empty where the driver
// finds no device. Errors: not_found (no driver), unsupported (one that cannot be used).
Result<std::vector<DeviceInfo>> list(const OpenOptions& options = {});

// The handles of a device made above; not retained for the caller. All null for other devices.
struct Handles {
  void* context = nullptr;  // CUcontext
  void* stream = nullptr;   // CUstream of application launches; null is the default stream as well
};
Handles handles(Device& device);

// The stream of application launches, with memory and copies. Error: invalid_argument (not a device
// of CUDA).
Result<std::unique_ptr<ApplicationQueue>> application_queue(Device& device);

// Compiles the request for GPUs of compute capability `architecture` (10 * major + minor) without
// any: to machine code, or to PTX, which any later GPU's driver compiles. Only
// options.nvrtc_library matters. Errors: not_found (no NVRTC), unsupported (it does not know the
// architecture), compile_error.
Result<std::vector<std::uint8_t>> compile_ahead(const CompileRequest& request, int architecture,
                                                BinaryFormat format,
                                                const OpenOptions& options = {});

using idletune::CacheCounters;
// Of the device's compiled-program cache. Zeros for other devices.
CacheCounters cache_counters(const Device& device);

}  // namespace idletune::cuda
