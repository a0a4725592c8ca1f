// What the stub driver remembers, and how its functions begin.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "platform/cuda/driver_api.hpp"
#include "tests/bench/stub_calls.hpp"
#include "tests/bench/stub_cuda/stub_control.h"

namespace stub_cuda {

using namespace idletune::cuda;

#define STUB_FUNCTIONS(X) IDLETUNE_CUDA_REQUIRED(X) IDLETUNE_CUDA_OPTIONAL(X)

enum Function {
#define STUB_ENUM(name, detail, parameters) k##name,
  STUB_FUNCTIONS(STUB_ENUM)
#undef STUB_ENUM
      kGetProcAddress,
  kFunctionCount
};

extern const char* const kNames[kFunctionCount];
extern const long kDefaults[CUDA_STUB_SETTING_COUNT];
constexpr int kMaxDevices = 4;
constexpr int kGreatestPriority = -5;

struct Context {
  int device = 0;
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
  static constexpr long kNever = std::numeric_limits<long>::min();
  std::atomic<long> at_ns{kNever};  // when it was recorded
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
  bool is_gemm = false;
  long run_ns = -1;  // -1: the setting's
  int behaviour = CUDA_STUB_RIGHT;
};

struct State {
  State();
  idletune::bench::StubCalls<kFunctionCount> calls{kNames};
  std::atomic<long> settings[CUDA_STUB_SETTING_COUNT] = {};
  std::atomic<long> live{0};
  Context primary[kMaxDevices];
  std::atomic<Error> spoilt_by{kSuccess};  // of every context, as on a GPU
  Stream default_streams[kMaxDevices];
  std::atomic<long> primary_references{0};
  std::mutex mutex;  // of what follows
  std::map<DeviceAddress, std::size_t> allocations;
  std::set<void*> objects;  // live ones: what callers leak on purpose stays reachable
  std::string last_image;
  CudaStubLaunch last_launch = {};
  std::set<void*> captured;  // modules and memory of launches into graphs
  long broken_graphs = 0;
};

extern State* const the_state;  // outlives every exit handler
inline State& state() { return *the_state; }

extern thread_local std::vector<Context*> context_stack;
extern thread_local CaptureMode capture_mode;

inline long setting(CudaStubSetting which) {
  return state().settings[which].load(std::memory_order_relaxed);
}

// Counts the call; the error it is scripted to fail with, or kSuccess.
inline Error enter(Function function) { return state().calls.enter(function); }

inline Context* current() { return context_stack.empty() ? nullptr : context_stack.back(); }

// As enter(), for calls that need a healthy current context.
inline Error enter_in_context(Function function) {
  const Error error = enter(function);
  if (error != kSuccess) return error;
  if (current() == nullptr) return kInvalidContext;
  return state().spoilt_by.load(std::memory_order_relaxed);
}

inline int device_count() {
  return static_cast<int>(std::clamp(setting(CUDA_STUB_DEVICES), 0L, long{kMaxDevices}));
}

extern thread_local Stream stream_of_thread;  // CU_STREAM_PER_THREAD

// Default streams are one per device here.
inline Stream* stream_of(StreamHandle handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) > 2) return reinterpret_cast<Stream*>(handle);
  if (reinterpret_cast<std::uintptr_t>(handle) == 2) return &stream_of_thread;
  return &state().default_streams[current() != nullptr ? current()->device : 0];
}

inline bool is_own(const Stream* stream) {
  return stream->context == current() || stream == &stream_of_thread ||
         (stream >= state().default_streams && stream < state().default_streams + kMaxDevices);
}

// Of a stream or event; benchmarks, which record nothing, do not pay for the look.
template <class Handle>
bool is_live(Handle handle) {
  if (setting(CUDA_STUB_RECORD_LAUNCHES) == 0 || reinterpret_cast<std::uintptr_t>(handle) <= 2)
    return true;
  const std::lock_guard<std::mutex> lock(state().mutex);
  return state().objects.count(handle) > 0;
}

// As enter_in_context(), for calls on a stream: a live one of that context.
inline Error enter_on_stream(Function function, StreamHandle stream) {
  const Error error = enter_in_context(function);
  if (error != kSuccess) return error;
  return is_live(stream) && is_own(stream_of(stream)) ? kSuccess : kInvalidHandle;
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
inline Error error_of_runs() {
  const long status = setting(CUDA_STUB_RUN_STATUS);
  if (status > 1) state().spoilt_by = static_cast<Error>(status);
  return state().spoilt_by.load();
}

}  // namespace stub_cuda
