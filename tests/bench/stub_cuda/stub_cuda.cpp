// A CUDA driver without GPU. See stub_control.h. STUB_CUDA_PROC_ADDRESS says which generation it is
// of: 2 has cuGetProcAddress_v2, 1 the first version of it (CUDA 11.3 to 11.8), 0 neither.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "platform/cuda/driver_api.hpp"
#include "tests/bench/stub_cuda/stub_kernels.hpp"
#include "tests/bench/stub_cuda/stub_state.hpp"

using namespace stub_cuda;

namespace {

constexpr int kMostGroups[3] = {2147483647, 65535, 65535};
constexpr unsigned kMostThreads[3] = {1024, 512, 64};
constexpr unsigned kThreadsOfKernel = 768;

bool fits(const unsigned (&grid)[3], const unsigned (&block)[3]) {
  unsigned long threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (grid[i] < 1 || grid[i] > static_cast<unsigned>(kMostGroups[i])) return false;
    if (block[i] < 1 || block[i] > kMostThreads[i]) return false;
    threads *= block[i];
  }
  return threads <= kThreadsOfKernel;
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

Error cuInit(unsigned) {
  const Error error = enter(kInit);
  return error == kSuccess && device_count() == 0 ? kNoDevice : error;
}

Error cuGetErrorName(Error error, const char** name) {
  struct Name {
    Error error;
    const char* name;
  };
  static constexpr Name kErrors[] = {
      {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
      {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
      {kNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
      {kNotFound, "CUDA_ERROR_NOT_FOUND"},
      {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {kLaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
  };
  for (const Name& known : kErrors) {
    if (known.error != error) continue;
    *name = known.name;
    return kSuccess;
  }
  *name = nullptr;
  return kInvalidValue;
}

Error cuDriverGetVersion(int* version) {
  *version = static_cast<int>(setting(CUDA_STUB_DRIVER_VERSION));
  return enter(kDriverGetVersion);
}

Error cuDeviceGetCount(int* count) {
  *count = device_count();
  return enter(kDeviceGetCount);
}

Error cuDeviceGet(DeviceOrdinal* device, int ordinal) {
  const Error error = enter(kDeviceGet);
  if (error != kSuccess) return error;
  if (ordinal < 0 || ordinal >= device_count()) return kInvalidValue;
  *device = ordinal;
  return kSuccess;
}

Error cuDeviceGetName(char* name, int length, DeviceOrdinal) {
  std::strncpy(name, "Stub GPU", static_cast<std::size_t>(length));
  return enter(kDeviceGetName);
}

Error cuDeviceTotalMem_v2(std::size_t* bytes, DeviceOrdinal) {
  *bytes = std::size_t{1} << 30;
  return enter(kDeviceTotalMem);
}

Error cuDeviceGetAttribute(int* value, DeviceAttribute attribute, DeviceOrdinal) {
  const Error error = enter(kDeviceGetAttribute);
  if (error != kSuccess) return error;
  const int architecture = static_cast<int>(setting(CUDA_STUB_ARCHITECTURE));
  switch (attribute) {
    case DeviceAttribute::max_threads_per_block: *value = 1024; break;
    case DeviceAttribute::max_block_dim_x: *value = 1024; break;
    case DeviceAttribute::max_block_dim_y: *value = 512; break;
    case DeviceAttribute::max_block_dim_z: *value = 64; break;
    case DeviceAttribute::max_grid_dim_x: *value = kMostGroups[0]; break;
    case DeviceAttribute::max_grid_dim_y: *value = kMostGroups[1]; break;
    case DeviceAttribute::max_grid_dim_z: *value = kMostGroups[2]; break;
    case DeviceAttribute::max_shared_memory_per_block: *value = 49152; break;
    case DeviceAttribute::multiprocessor_count: *value = 8; break;
    case DeviceAttribute::integrated: *value = 1; break;
    case DeviceAttribute::compute_capability_major: *value = architecture / 10; break;
    case DeviceAttribute::compute_capability_minor: *value = architecture % 10; break;
    default: return kInvalidValue;
  }
  return kSuccess;
}

Error cuDevicePrimaryCtxRetain(ContextHandle* context, DeviceOrdinal device) {
  const Error error = enter(kDevicePrimaryCtxRetain);
  if (error != kSuccess) return error;
  if (const Error spoilt = state().spoilt_by; spoilt != kSuccess) return spoilt;
  state().primary_references.fetch_add(1);
  *context = reinterpret_cast<ContextHandle>(&state().primary[device]);
  return kSuccess;
}

Error cuDevicePrimaryCtxRelease_v2(DeviceOrdinal) {
  const Error error = enter(kDevicePrimaryCtxRelease);
  if (error == kSuccess) state().primary_references.fetch_sub(1);
  return error;
}

Error cuCtxPushCurrent_v2(ContextHandle context) {
  const Error error = enter(kCtxPushCurrent);
  if (error == kSuccess) context_stack.push_back(reinterpret_cast<Context*>(context));
  return error;
}

Error cuCtxPopCurrent_v2(ContextHandle* context) {
  const Error error = enter(kCtxPopCurrent);
  if (error != kSuccess) return error;
  if (context_stack.empty()) return kInvalidContext;
  *context = reinterpret_cast<ContextHandle>(context_stack.back());
  context_stack.pop_back();
  return kSuccess;
}

Error cuCtxGetCurrent(ContextHandle* context) {
  *context = reinterpret_cast<ContextHandle>(current());
  return enter(kCtxGetCurrent);
}

Error cuCtxGetDevice(DeviceOrdinal* device) {
  const Error error = enter_in_context(kCtxGetDevice);
  if (error == kSuccess) *device = current()->device;
  return error;
}

Error cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = setting(CUDA_STUB_PRIORITIES) != 0 ? kGreatestPriority : 0;
  return enter_in_context(kCtxGetStreamPriorityRange);
}

static Error create_stream(Function function, StreamHandle* handle, int priority) {
  const Error error = enter_in_context(function);
  if (error != kSuccess) return error;
  auto* stream = new Stream;
  stream->context = current();
  stream->priority =
      setting(CUDA_STUB_PRIORITIES) != 0 ? std::clamp(priority, kGreatestPriority, 0) : 0;
  return keep(stream, handle);
}

Error cuStreamCreate(StreamHandle* stream, unsigned) {
  return create_stream(kStreamCreate, stream, 0);
}

Error cuStreamCreateWithPriority(StreamHandle* stream, unsigned, int priority) {
  return create_stream(kStreamCreateWithPriority, stream, priority);
}

Error cuStreamGetPriority(StreamHandle stream, int* priority) {
  *priority = stream_of(stream)->priority;
  return enter_in_context(kStreamGetPriority);
}

Error cuStreamGetCtx(StreamHandle stream, ContextHandle* context) {
  *context = reinterpret_cast<ContextHandle>(stream_of(stream)->context);
  return enter(kStreamGetCtx);
}

Error cuStreamDestroy_v2(StreamHandle stream) {
  const Error error = enter_in_context(kStreamDestroy);
  return error != kSuccess ? error : destroy(reinterpret_cast<Stream*>(stream));
}

Error cuStreamSynchronize(StreamHandle stream) {
  const Error error = enter_on_stream(kStreamSynchronize, stream);
  if (error != kSuccess) return error;
  if (stream_of(stream)->endless) std::abort();  // it would wait for ever
  return error_of_runs();
}

Error cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  const Error error = enter_on_stream(kStreamWaitEvent, stream);
  if (error != kSuccess) return error;
  return is_live(event) ? kSuccess : kInvalidHandle;
}

Error cuStreamIsCapturing(StreamHandle, CaptureStatus* status) {
  *status = setting(CUDA_STUB_CAPTURING) != 0 ? static_cast<CaptureStatus>(1) : CaptureStatus::none;
  return enter(kStreamIsCapturing);
}

Error cuThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  std::swap(*mode, capture_mode);
  return enter(kThreadExchangeStreamCaptureMode);
}

Error cuEventCreate(EventHandle* handle, unsigned flags) {
  const Error error = enter_in_context(kEventCreate);
  if (error != kSuccess) return error;
  auto* event = new Event;
  event->context = current();
  event->timing = (flags & kEventWithoutTiming) == 0;
  return keep(event, handle);
}

Error cuEventDestroy_v2(EventHandle event) {
  const Error error = enter(kEventDestroy);
  return error != kSuccess ? error : destroy(reinterpret_cast<Event*>(event));
}

Error cuEventRecord(EventHandle handle, StreamHandle stream_handle) {
  const Error error = enter_on_stream(kEventRecord, stream_handle);
  if (error != kSuccess) return error;
  auto* event = reinterpret_cast<Event*>(handle);
  const Stream* stream = stream_of(stream_handle);
  if (!is_live(handle) || event->context != current()) return kInvalidHandle;
  event->at_ns = stream->clock_ns.load();
  event->polls_left = setting(CUDA_STUB_EVENT_POLLS);
  event->endless = stream->endless.load();
  return kSuccess;
}

Error cuEventQuery(EventHandle handle) {
  const Error error = enter(kEventQuery);
  if (error != kSuccess) return error;
  auto* event = reinterpret_cast<Event*>(handle);
  if (const Error spoilt = error_of_runs(); spoilt != kSuccess) return spoilt;
  if (setting(CUDA_STUB_RUN_STATUS) == 1 || event->endless) return kNotReady;
  return event->polls_left.fetch_sub(1) > 0 ? kNotReady : kSuccess;
}

Error cuEventElapsedTime(float* milliseconds, EventHandle start, EventHandle end) {
  const Error error = enter(kEventElapsedTime);
  if (error != kSuccess) return error;
  const auto* first = reinterpret_cast<Event*>(start);
  const auto* second = reinterpret_cast<Event*>(end);
  if (!first->timing || !second->timing) return kInvalidHandle;
  if (first->at_ns == Event::kNever || second->at_ns == Event::kNever) return kInvalidHandle;
  *milliseconds = static_cast<float>(second->at_ns - first->at_ns) * 1e-6f;
  return kSuccess;
}

Error cuMemAlloc_v2(DeviceAddress* address, std::size_t bytes) {
  const Error error = enter_in_context(kMemAlloc);
  if (error != kSuccess) return error;
  if (bytes == 0) return kInvalidValue;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (memory == nullptr) return kOutOfMemory;
  *address = static_cast<DeviceAddress>(reinterpret_cast<std::uintptr_t>(memory));
  state().live.fetch_add(1);
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().allocations[*address] = bytes;
  return kSuccess;
}

Error cuMemFree_v2(DeviceAddress address) {
  const Error error = enter_in_context(kMemFree);
  if (error != kSuccess) return error;
  {
    const std::lock_guard<std::mutex> lock(state().mutex);
    if (state().allocations.erase(address) == 0) return kInvalidValue;
    if (state().captured.count(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address))) > 0)
      ++state().broken_graphs;
  }
  std::free(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)));
  state().live.fetch_sub(1);
  return kSuccess;
}

Error cuMemGetAddressRange_v2(DeviceAddress* start, std::size_t* bytes, DeviceAddress address) {
  const Error error = enter_in_context(kMemGetAddressRange);
  if (error != kSuccess) return error;
  const std::lock_guard<std::mutex> lock(state().mutex);
  for (const auto& [first, size] : state().allocations) {
    if (address < first || address >= first + size) continue;
    const auto segment = static_cast<std::size_t>(setting(CUDA_STUB_SEGMENT_BYTES));
    const std::size_t before = segment == 0 ? 0 : (address - first) / segment * segment;
    *start = first + before;
    *bytes = segment == 0 ? size : std::min(segment, size - before);
    return kSuccess;
  }
  return kNotFound;
}

Error cuMemcpyHtoDAsync_v2(DeviceAddress to, const void* from, std::size_t bytes,
                           StreamHandle stream) {
  const Error error = enter_on_stream(kMemcpyHtoDAsync, stream);
  if (error != kSuccess) return error;
  if (!is_allocated(to, bytes)) return kInvalidValue;
  std::memcpy(reinterpret_cast<void*>(static_cast<std::uintptr_t>(to)), from, bytes);
  return kSuccess;
}

Error cuMemcpyDtoHAsync_v2(void* to, DeviceAddress from, std::size_t bytes, StreamHandle stream) {
  const Error error = enter_on_stream(kMemcpyDtoHAsync, stream);
  if (error != kSuccess) return error;
  if (!is_allocated(from, bytes)) return kInvalidValue;
  std::memcpy(to, reinterpret_cast<void*>(static_cast<std::uintptr_t>(from)), bytes);
  return kSuccess;
}

Error cuMemcpyDtoDAsync_v2(DeviceAddress to, DeviceAddress from, std::size_t bytes,
                           StreamHandle stream) {
  const Error error = enter_on_stream(kMemcpyDtoDAsync, stream);
  if (error != kSuccess) return error;
  if (!is_allocated(to, bytes) || !is_allocated(from, bytes)) return kInvalidValue;
  std::memmove(reinterpret_cast<void*>(static_cast<std::uintptr_t>(to)),
               reinterpret_cast<void*>(static_cast<std::uintptr_t>(from)), bytes);
  return kSuccess;
}

Error cuModuleLoadDataEx(ModuleHandle* handle, const void* image, unsigned count,
                         JitOption* options, void** values) {
  const Error error = enter_in_context(kModuleLoadDataEx);
  if (error != kSuccess) return error;
  const std::string text = static_cast<const char*>(image);
  {
    const std::lock_guard<std::mutex> lock(state().mutex);
    state().last_image = text;
  }
  const std::string machine_code =
      "stub cubin sm_" + std::to_string(setting(CUDA_STUB_ARCHITECTURE)) + "\n";
  if (text.rfind("stub ptx ", 0) != 0 && text.rfind(machine_code, 0) != 0) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == JitOption::error_log_buffer) {
        std::strcpy(static_cast<char*>(values[i]), "not made for this device\n");
      }
    }
    return text.rfind("stub cubin ", 0) == 0 ? kNoBinaryForGpu : kInvalidImage;
  }
  auto* module = new Module;
  module->context = current();
  module->image = text;
  return keep(module, handle);
}

Error cuModuleUnload(ModuleHandle handle) {
  const Error error = enter_in_context(kModuleUnload);
  if (error != kSuccess) return error;
  auto* module = reinterpret_cast<Module*>(handle);
  if (module->context != current()) return kInvalidHandle;
  {
    const std::lock_guard<std::mutex> lock(state().mutex);
    if (state().captured.count(module) > 0) ++state().broken_graphs;
  }
  for (Kernel* kernel : module->kernels) delete kernel;
  return destroy(module);
}

Error cuModuleGetFunction(FunctionHandle* handle, ModuleHandle module_handle, const char* name) {
  const Error error = enter_in_context(kModuleGetFunction);
  if (error != kSuccess) return error;
  auto* module = reinterpret_cast<Module*>(module_handle);
  Kernel* kernel = find_kernel(module, name);
  if (kernel == nullptr) return kNotFound;
  module->kernels.push_back(kernel);
  *handle = reinterpret_cast<FunctionHandle>(kernel);
  return kSuccess;
}

Error cuFuncGetAttribute(int* value, FunctionAttribute attribute, FunctionHandle handle) {
  const Error error = enter_in_context(kFuncGetAttribute);
  if (error != kSuccess) return error;
  const std::string& image = reinterpret_cast<Kernel*>(handle)->module->image;
  *value = attribute == FunctionAttribute::max_threads_per_block
               ? 768
               : static_cast<int>(definition(image, "SHARED_BYTES", 0));
  return kSuccess;
}

Error cuFuncGetParamInfo(FunctionHandle handle, std::size_t index, std::size_t* offset,
                         std::size_t* bytes) {
  const Error error = enter_in_context(kFuncGetParamInfo);
  if (error != kSuccess) return error;
  if (setting(CUDA_STUB_PARAMETER_INFO) == 0) return 801;  // CUDA_ERROR_NOT_SUPPORTED
  const std::vector<std::size_t>& sizes = reinterpret_cast<Kernel*>(handle)->parameter_bytes;
  if (index >= sizes.size()) return kInvalidValue;
  *offset = 8 * index;
  *bytes = sizes[index];
  return kSuccess;
}

Error cuLaunchKernel(FunctionHandle handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                     StreamHandle stream_handle, void** parameters, void**) {
  const Error error = enter_on_stream(kLaunchKernel, stream_handle);
  if (error != kSuccess) return error;
  const Kernel& kernel = *reinterpret_cast<Kernel*>(handle);
  Stream* stream = stream_of(stream_handle);
  if (kernel.module->context != current()) return kInvalidHandle;
  if (!fits({grid_x, grid_y, grid_z}, {block_x, block_y, block_z})) return kInvalidValue;
  if (setting(CUDA_STUB_CAPTURING) != 0) capture(kernel, parameters);
  if (kernel.behaviour == CUDA_STUB_OUT_OF_RESOURCES) return kLaunchOutOfResources;
  const long run_ns = kernel.run_ns < 0 ? setting(CUDA_STUB_RUN_NS) : kernel.run_ns;
  stream->clock_ns.fetch_add(run_ns, std::memory_order_relaxed);
  if (setting(CUDA_STUB_RECORD_LAUNCHES) != 0) {
    record(kernel, *stream, stream_handle,
           {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes}, parameters);
  }
  if (kernel.is_scale || (kernel.is_gemm && setting(CUDA_STUB_GEMM) == 2)) {
    behave(kernel, *stream, parameters);
  }
  return kSuccess;
}

#if STUB_CUDA_PROC_ADDRESS >= 1
static Error find_address(const char* symbol, void** function, int version) {
  struct Entry {
    const char* name;
    void* function;
    int since;
  };
#define STUB_REQUIRED_ENTRY(name, suffix, parameters) \
  {"cu" #name, reinterpret_cast<void*>(&cu##name##suffix), 0},
#define STUB_OPTIONAL_ENTRY(name, since, parameters) \
  {"cu" #name, reinterpret_cast<void*>(&cu##name), since},
  static const Entry kEntries[] = {IDLETUNE_CUDA_REQUIRED(STUB_REQUIRED_ENTRY)
                                       IDLETUNE_CUDA_OPTIONAL(STUB_OPTIONAL_ENTRY)};
#undef STUB_REQUIRED_ENTRY
#undef STUB_OPTIONAL_ENTRY
  *function = nullptr;
  if (const Error error = enter(kGetProcAddress); error != kSuccess) return error;
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.name, symbol) != 0 || version < entry.since) continue;
    *function = entry.function;
    return kSuccess;
  }
  return kNotFound;
}

Error cuGetProcAddress(const char* symbol, void** function, int version, std::uint64_t) {
  return find_address(symbol, function, version);
}
#endif
#if STUB_CUDA_PROC_ADDRESS >= 2
Error cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t,
                          int* status) {
  *status = 0;
  return find_address(symbol, function, version);
}
#endif

#pragma GCC visibility pop

}  // extern "C"
