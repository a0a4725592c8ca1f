// A CUDA driver without GPU. See stub_control.h. STUB_CUDA_PROC_ADDRESS says which generation it is
// of: 2 has cuGetProcAddress_v2, 1 the first version of it (CUDA 11.3 to 11.8), 0 neither.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "platform/cuda/driver_api.hpp"
#include "tests/bench/stub_cuda/stub_control.h"

namespace {

using namespace idletune::cuda;

#define STUB_FUNCTIONS(X) IDLETUNE_CUDA_REQUIRED(X) IDLETUNE_CUDA_OPTIONAL(X)

enum Function {
#define STUB_ENUM(name, detail, parameters) k##name,
  STUB_FUNCTIONS(STUB_ENUM)
#undef STUB_ENUM
      kGetProcAddress,
  kFunctionCount
};

constexpr const char* kNames[] = {
#define STUB_NAME(name, detail, parameters) "cu" #name,
    STUB_FUNCTIONS(STUB_NAME)
#undef STUB_NAME
        "cuGetProcAddress"};

constexpr long kDefaults[CUDA_STUB_SETTING_COUNT] = {0, 0, 1000, 1, 12020, 87, 1, 1, 0, 1};
constexpr int kMaxDevices = 4;
constexpr int kGreatestPriority = -5;

struct Context {
  int device = 0;
  std::atomic<Error> spoilt_by{kSuccess};
};

struct Stream {
  Context* context = nullptr;
  int priority = 0;
  std::atomic<long> clock_ns{0};
  std::atomic<bool> endless{false};
};

struct Event {
  Context* context = nullptr;
  bool timing = true;
  std::atomic<long> at_ns{0};
  std::atomic<long> polls_left{0};
  std::atomic<bool> endless{false};
};

struct Module {
  Context* context = nullptr;
  std::string image;
  std::vector<struct Kernel*> kernels;
};

struct Kernel {
  Module* module = nullptr;
  std::vector<std::size_t> parameter_bytes;
  bool is_scale = false;
  long run_ns = -1;  // -1: the setting's
  int behaviour = CUDA_STUB_RIGHT;
};

struct State {
  State() {
    for (int i = 0; i < CUDA_STUB_SETTING_COUNT; ++i) settings[i] = kDefaults[i];
    for (int i = 0; i < kMaxDevices; ++i) {
      primary[i].device = i;
      default_streams[i].context = &primary[i];
    }
  }
  std::atomic<unsigned long> calls[kFunctionCount] = {};
  std::atomic<Error> errors[kFunctionCount] = {};
  std::atomic<long> successes_left[kFunctionCount] = {};
  std::atomic<long> settings[CUDA_STUB_SETTING_COUNT] = {};
  std::atomic<long> live{0};
  Context primary[kMaxDevices];
  Stream default_streams[kMaxDevices];
  std::atomic<long> primary_references{0};
  std::mutex mutex;  // of what follows
  std::map<DeviceAddress, std::size_t> allocations;
  std::set<void*> objects;  // live ones: what callers leak on purpose stays reachable
  std::string last_image;
  CudaStubLaunch last_launch = {};
};

State& state() {
  static State* the_state = new State;  // outlives every exit handler
  return *the_state;
}

thread_local std::vector<Context*> context_stack;
thread_local CaptureMode capture_mode = CaptureMode::global;

long setting(CudaStubSetting which) {
  return state().settings[which].load(std::memory_order_relaxed);
}

// Counts the call; the error it is scripted to fail with, or kSuccess.
Error enter(Function function) {
  State& s = state();
  s.calls[function].fetch_add(1, std::memory_order_relaxed);
  const Error error = s.errors[function].load(std::memory_order_relaxed);
  if (error == kSuccess) return kSuccess;
  return s.successes_left[function].fetch_sub(1) > 0 ? kSuccess : error;
}

Context* current() { return context_stack.empty() ? nullptr : context_stack.back(); }

// As enter(), for calls that need a healthy current context.
Error enter_in_context(Function function) {
  const Error error = enter(function);
  if (error != kSuccess) return error;
  const Context* context = current();
  if (context == nullptr) return kInvalidContext;
  return context->spoilt_by.load(std::memory_order_relaxed);
}

int device_count() {
  return static_cast<int>(std::clamp(setting(CUDA_STUB_DEVICES), 0L, long{kMaxDevices}));
}

// Default streams are one per device here.
Stream* stream_of(StreamHandle handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) > 2) return reinterpret_cast<Stream*>(handle);
  return &state().default_streams[current() != nullptr ? current()->device : 0];
}

bool is_own(const Stream* stream) {
  return stream->context == current() ||
         (stream >= state().default_streams && stream < state().default_streams + kMaxDevices);
}

template <class Handle, class Object>
Error keep(Object* object, Handle* out) {
  state().live.fetch_add(1);
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().objects.insert(object);
  *out = reinterpret_cast<Handle>(object);
  return kSuccess;
}

template <class Object>
Error destroy(Object* object) {
  {
    const std::lock_guard<std::mutex> lock(state().mutex);
    if (state().objects.erase(object) == 0) return kInvalidHandle;
  }
  delete object;
  state().live.fetch_sub(1);
  return kSuccess;
}

// The run's errors show wherever somebody looks for its end.
Error error_of_runs(Context* context) {
  const long status = setting(CUDA_STUB_RUN_STATUS);
  if (status > 1) context->spoilt_by = static_cast<Error>(status);
  return context->spoilt_by.load();
}

// --- kernels -------------------------------------------------------------------------------------

// The number behind "-DNAME=" in the image; `otherwise` where there is none.
long definition(const std::string& image, const char* name, long otherwise) {
  const std::string wanted = std::string("-D") + name + "=";
  const std::size_t at = image.find(wanted);
  return at == std::string::npos ? otherwise : std::atol(image.c_str() + at + wanted.size());
}

std::size_t parameter_bytes(const std::string& parameter) {
  if (parameter.find('*') != std::string::npos) return sizeof(DeviceAddress);
  for (const char* wide : {"double", "long"}) {
    if (parameter.find(wide) != std::string::npos) return 8;
  }
  return 4;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Reads the parameters of `name` from the source in the image; null where it has no such function.
Kernel* find_kernel(Module* module, const std::string& name) {
  const std::string& text = module->image;
  std::size_t at = 0;
  for (;; ++at) {
    at = text.find(name + "(", at);
    if (at == std::string::npos) return nullptr;
    if (at > 0 && !is_name_character(text[at - 1])) break;
  }
  const std::size_t open = at + name.size();
  const std::size_t close = text.find(')', open);
  if (close == std::string::npos) return nullptr;
  auto* kernel = new Kernel;
  kernel->module = module;
  std::string parameter;
  for (std::size_t i = open + 1; i <= close; ++i) {
    if (text[i] != ',' && i != close) {
      parameter += text[i];
      continue;
    }
    if (parameter.find_first_not_of(" \n") != std::string::npos) {
      kernel->parameter_bytes.push_back(parameter_bytes(parameter));
    }
    parameter.clear();
  }
  kernel->is_scale = name == "scale" && kernel->parameter_bytes.size() == 4;
  const long run_us = definition(text, "RUN_US", -1);
  kernel->run_ns = run_us < 0 ? -1 : 1000 * run_us;
  kernel->behaviour = static_cast<int>(definition(text, "BEHAVIOUR", CUDA_STUB_RIGHT));
  return kernel;
}

// Whether [address, address + bytes) lies inside one allocation.
bool is_allocated(DeviceAddress address, std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  auto next = state().allocations.upper_bound(address);
  if (next == state().allocations.begin()) return false;
  --next;
  return address - next->first <= next->second && bytes <= next->second - (address - next->first);
}

template <class T>
T read_argument(void** parameters, int i) {
  T value;
  std::memcpy(&value, parameters[i], sizeof value);
  return value;
}

Error run_scale(const Kernel& kernel, void** parameters) {
  const auto out = read_argument<DeviceAddress>(parameters, 0);
  const auto in = read_argument<DeviceAddress>(parameters, 1);
  const auto factor = read_argument<float>(parameters, 2);
  const auto n = read_argument<int>(parameters, 3);
  const std::size_t bytes = static_cast<std::size_t>(n > 0 ? n : 0) * sizeof(float);
  if (!is_allocated(out, bytes) || !is_allocated(in, bytes)) return kIllegalAddress;
  auto* to = reinterpret_cast<float*>(static_cast<std::uintptr_t>(out));
  const auto* from = reinterpret_cast<const float*>(static_cast<std::uintptr_t>(in));
  for (int i = 0; i < n; ++i) to[i] = factor * from[i];
  if (kernel.behaviour == CUDA_STUB_WRONG && n > 0) to[n - 1] += 1;
  return kSuccess;
}

void behave(const Kernel& kernel, Stream& stream, Context& context, void** parameters) {
  if (kernel.behaviour == CUDA_STUB_ABORT) std::abort();
  if (kernel.behaviour == CUDA_STUB_ENDLESS) stream.endless = true;
  if (kernel.behaviour == CUDA_STUB_ILLEGAL_ADDRESS) context.spoilt_by = kIllegalAddress;
  if (!kernel.is_scale || context.spoilt_by.load() != kSuccess) return;
  if (const Error error = run_scale(kernel, parameters); error != kSuccess) {
    context.spoilt_by = error;
  }
}

void record(const Kernel& kernel, const Stream& stream, StreamHandle handle,
            const unsigned (&sizes)[7], void** parameters) {
  CudaStubLaunch launch = {};
  launch.stream = handle;
  launch.priority = stream.priority;
  launch.context = current();
  launch.capture_mode = static_cast<int>(capture_mode);
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = sizes[i];
    launch.block[i] = sizes[3 + i];
  }
  launch.shared_bytes = sizes[6];
  launch.argument_count = static_cast<unsigned>(kernel.parameter_bytes.size());
  for (std::size_t i = 0; i < kernel.parameter_bytes.size() && i < 16; ++i) {
    launch.argument_size[i] = kernel.parameter_bytes[i];
    std::memcpy(launch.argument[i], parameters[i], kernel.parameter_bytes[i]);
  }
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().last_launch = launch;
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

void cuda_stub_reset(void) {
  State& s = state();
  for (auto& calls : s.calls) calls = 0;
  for (auto& error : s.errors) error = kSuccess;
  for (int i = 0; i < CUDA_STUB_SETTING_COUNT; ++i) s.settings[i] = kDefaults[i];
  for (Context& context : s.primary) context.spoilt_by = kSuccess;
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.last_image.clear();
  s.last_launch = {};
}

void cuda_stub_set(enum CudaStubSetting which, long value) { state().settings[which] = value; }

void cuda_stub_fail(const char* function, int error, unsigned after) {
  for (int i = 0; i < kFunctionCount; ++i) {
    if (std::strcmp(kNames[i], function) != 0) continue;
    state().successes_left[i] = static_cast<long>(after);
    state().errors[i] = error;
  }
}

unsigned long cuda_stub_calls(const char* function) {
  unsigned long count = 0;
  for (int i = 0; i < kFunctionCount; ++i) {
    if (function == nullptr || std::strcmp(kNames[i], function) == 0) count += state().calls[i];
  }
  return count;
}

long cuda_stub_live_objects(void) { return state().live + state().primary_references; }

void* cuda_stub_create_context(int device) {
  auto* context = new Context;
  context->device = device;
  return context;
}
void cuda_stub_destroy_context(void* context) { delete static_cast<Context*>(context); }

int cuda_stub_capture_mode(void) { return static_cast<int>(capture_mode); }

void cuda_stub_last_launch(struct CudaStubLaunch* launch) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  *launch = state().last_launch;
}

const char* cuda_stub_last_image(void) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  return state().last_image.c_str();
}

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
  const Error error = enter_in_context(kStreamSynchronize);
  if (error != kSuccess) return error;
  if (stream_of(stream)->endless) std::abort();  // it would wait for ever
  return error_of_runs(current());
}

Error cuStreamWaitEvent(StreamHandle, EventHandle, unsigned) {
  return enter_in_context(kStreamWaitEvent);
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
  const Error error = enter_in_context(kEventRecord);
  if (error != kSuccess) return error;
  auto* event = reinterpret_cast<Event*>(handle);
  Stream* stream = stream_of(stream_handle);
  if (!is_own(stream) || event->context != current()) return kInvalidHandle;
  event->at_ns = stream->clock_ns.load();
  event->polls_left = setting(CUDA_STUB_EVENT_POLLS);
  event->endless = stream->endless.load();
  return kSuccess;
}

Error cuEventQuery(EventHandle handle) {
  const Error error = enter(kEventQuery);
  if (error != kSuccess) return error;
  auto* event = reinterpret_cast<Event*>(handle);
  if (const Error spoilt = error_of_runs(event->context); spoilt != kSuccess) return spoilt;
  if (setting(CUDA_STUB_RUN_STATUS) == 1 || event->endless) return kNotReady;
  return event->polls_left.fetch_sub(1) > 0 ? kNotReady : kSuccess;
}

Error cuEventElapsedTime(float* milliseconds, EventHandle start, EventHandle end) {
  const Error error = enter(kEventElapsedTime);
  if (error != kSuccess) return error;
  const auto* first = reinterpret_cast<Event*>(start);
  const auto* second = reinterpret_cast<Event*>(end);
  if (!first->timing || !second->timing) return kInvalidHandle;
  *milliseconds = static_cast<float>(second->at_ns - first->at_ns) * 1e-6f;
  return kSuccess;
}

Error cuMemAlloc_v2(DeviceAddress* address, std::size_t bytes) {
  const Error error = enter_in_context(kMemAlloc);
  if (error != kSuccess) return error;
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
  }
  std::free(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)));
  state().live.fetch_sub(1);
  return kSuccess;
}

Error cuMemcpyHtoDAsync_v2(DeviceAddress to, const void* from, std::size_t bytes, StreamHandle) {
  const Error error = enter_in_context(kMemcpyHtoDAsync);
  if (error != kSuccess) return error;
  if (!is_allocated(to, bytes)) return kInvalidValue;
  std::memcpy(reinterpret_cast<void*>(static_cast<std::uintptr_t>(to)), from, bytes);
  return kSuccess;
}

Error cuMemcpyDtoHAsync_v2(void* to, DeviceAddress from, std::size_t bytes, StreamHandle) {
  const Error error = enter_in_context(kMemcpyDtoHAsync);
  if (error != kSuccess) return error;
  if (!is_allocated(from, bytes)) return kInvalidValue;
  std::memcpy(to, reinterpret_cast<void*>(static_cast<std::uintptr_t>(from)), bytes);
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
  const Error error = enter_in_context(kLaunchKernel);
  if (error != kSuccess) return error;
  const Kernel& kernel = *reinterpret_cast<Kernel*>(handle);
  Stream* stream = stream_of(stream_handle);
  if (kernel.module->context != current() || !is_own(stream)) return kInvalidHandle;
  if (kernel.behaviour == CUDA_STUB_OUT_OF_RESOURCES) return kLaunchOutOfResources;
  const long run_ns = kernel.run_ns < 0 ? setting(CUDA_STUB_RUN_NS) : kernel.run_ns;
  stream->clock_ns.fetch_add(run_ns, std::memory_order_relaxed);
  if (setting(CUDA_STUB_RECORD_LAUNCHES) != 0) {
    record(kernel, *stream, stream_handle,
           {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes}, parameters);
  }
  if (kernel.is_scale) behave(kernel, *stream, *current(), parameters);
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
