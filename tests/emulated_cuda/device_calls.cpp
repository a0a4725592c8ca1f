// Calls on the driver itself, on devices and on contexts.
#include <cstdio>

#include "tests/emulated_cuda/driver_state.hpp"

using namespace emulated_cuda;
using namespace idletune::cuda;

namespace {

Device* device_at(DeviceOrdinal ordinal) {
  const auto& devices = state().devices;
  const bool is_there = ordinal >= 0 && static_cast<std::size_t>(ordinal) < devices.size();
  return is_there ? devices[static_cast<std::size_t>(ordinal)].get() : nullptr;
}

DeviceOrdinal ordinal_of(const Device* device) {
  DeviceOrdinal ordinal = 0;
  while (device_at(ordinal) != nullptr && device_at(ordinal) != device) ++ordinal;
  return ordinal;
}

constexpr struct {
  Error error;
  const char* name;
} kErrors[] = {
    {kSuccess, "CUDA_SUCCESS"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
    {kNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {kInvalidPtx, "CUDA_ERROR_INVALID_PTX"},
    {kUnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND"},
    {kNotReady, "CUDA_ERROR_NOT_READY"},
    {kCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {kCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {kLaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {kMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
};

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

Error cuInit(unsigned) { return state().devices.empty() ? kNoDevice : kSuccess; }

Error cuGetErrorName(Error error, const char** name) {
  for (const auto& known : kErrors) {
    if (known.error != error) continue;
    *name = known.name;
    return kSuccess;
  }
  *name = nullptr;
  return kInvalidValue;
}

Error cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}

Error cuDeviceGetCount(int* count) {
  *count = static_cast<int>(state().devices.size());
  return kSuccess;
}

Error cuDeviceGet(DeviceOrdinal* device, int ordinal) {
  *device = ordinal;
  return device_at(ordinal) != nullptr ? kSuccess : kInvalidValue;
}

Error cuDeviceGetName(char* name, int length, DeviceOrdinal ordinal) {
  const Device* device = device_at(ordinal);
  if (device == nullptr || length < 1) return kInvalidValue;
  std::snprintf(name, static_cast<std::size_t>(length), "%s", device->board.device_name);
  return kSuccess;
}

Error cuDeviceTotalMem_v2(std::size_t* bytes, DeviceOrdinal ordinal) {
  const Device* device = device_at(ordinal);
  if (device == nullptr) return kInvalidValue;
  *bytes = static_cast<std::size_t>(device->board.memory_bytes);
  return kSuccess;
}

Error cuDeviceGetAttribute(int* value, DeviceAttribute attribute, DeviceOrdinal ordinal) {
  const Device* device = device_at(ordinal);
  if (device == nullptr) return kInvalidValue;
  const Board& board = device->board;
  const auto set = [&](auto number) {
    *value = static_cast<int>(number);
    return kSuccess;
  };
  switch (attribute) {
    case DeviceAttribute::max_threads_per_block: return set(board.most_threads);
    case DeviceAttribute::max_block_dim_x: return set(board.most_block[0]);
    case DeviceAttribute::max_block_dim_y: return set(board.most_block[1]);
    case DeviceAttribute::max_block_dim_z: return set(board.most_block[2]);
    case DeviceAttribute::max_grid_dim_x: return set(board.most_grid[0]);
    case DeviceAttribute::max_grid_dim_y: return set(board.most_grid[1]);
    case DeviceAttribute::max_grid_dim_z: return set(board.most_grid[2]);
    case DeviceAttribute::max_shared_memory_per_block: return set(board.shared_bytes);
    case DeviceAttribute::multiprocessor_count: return set(board.multiprocessors);
    case DeviceAttribute::integrated: return set(1);
    case DeviceAttribute::compute_capability_major: return set(board.architecture / 10);
    case DeviceAttribute::compute_capability_minor: return set(board.architecture % 10);
    default: return kInvalidValue;
  }
}

Error cuDevicePrimaryCtxRetain(ContextHandle* context, DeviceOrdinal ordinal) {
  Device* device = device_at(ordinal);
  if (device == nullptr) return kInvalidValue;
  *context = reinterpret_cast<ContextHandle>(&device->primary);
  return device->spoilt_by;
}

Error cuDevicePrimaryCtxRelease_v2(DeviceOrdinal ordinal) {
  return device_at(ordinal) != nullptr ? kSuccess : kInvalidValue;
}

// One of the application's own.
Error cuCtxCreate_v2(ContextHandle* context, unsigned, DeviceOrdinal ordinal) {
  Device* device = device_at(ordinal);
  if (device == nullptr) return kInvalidValue;
  if (device->spoilt_by != kSuccess) return device->spoilt_by;
  state().contexts.keep(std::make_shared<Context>(device), context);
  context_stack().push_back(reinterpret_cast<Context*>(*context));
  return kSuccess;
}

Error cuCtxPushCurrent_v2(ContextHandle context) {
  if (context == nullptr) return kInvalidContext;
  context_stack().push_back(reinterpret_cast<Context*>(context));
  return kSuccess;
}

Error cuCtxPopCurrent_v2(ContextHandle* context) {
  if (context_stack().empty()) return kInvalidContext;
  *context = reinterpret_cast<ContextHandle>(context_stack().back());
  context_stack().pop_back();
  return kSuccess;
}

Error cuCtxGetCurrent(ContextHandle* context) {
  *context = reinterpret_cast<ContextHandle>(current_context());
  return kSuccess;
}

Error cuCtxGetDevice(DeviceOrdinal* device) {
  const Error error = check_context();
  if (error == kSuccess) *device = ordinal_of(current_context()->device);
  return error;
}

Error cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return check_context();
}

#pragma GCC visibility pop
}
