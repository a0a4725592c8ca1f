// What the stub library remembers, and how its functions begin.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/bench/stub_calls.hpp"
#include "tests/bench/stub_opencl/stub_control.h"

namespace stub_opencl {

// clang-format off
#define STUB_FUNCTIONS(X) \
  X(BuildProgram) X(CreateBuffer) X(CreateCommandQueue) X(CreateCommandQueueWithProperties) \
  X(CreateContext) X(CreateKernel) X(CreateProgramWithBinary) X(CreateProgramWithSource) \
  X(CreateSubBuffer) X(EnqueueBarrierWithWaitList) X(EnqueueCopyBuffer) X(EnqueueMarkerWithWaitList) \
  X(EnqueueNDRangeKernel) X(EnqueueReadBuffer) X(EnqueueWriteBuffer) \
  X(Finish) X(Flush) X(GetCommandQueueInfo) X(GetContextInfo) X(GetDeviceIDs) X(GetDeviceInfo) \
  X(GetEventInfo) X(GetEventProfilingInfo) X(GetExtensionFunctionAddressForPlatform) \
  X(GetKernelInfo) X(GetKernelWorkGroupInfo) X(GetMemObjectInfo) X(GetPlatformIDs) X(GetPlatformInfo) X(GetProgramBuildInfo) \
  X(GetProgramInfo) X(ReleaseCommandQueue) X(ReleaseContext) X(ReleaseEvent) X(ReleaseKernel) \
  X(ReleaseMemObject) X(ReleaseProgram) X(RetainCommandQueue) X(RetainContext) X(RetainEvent) \
  X(SetKernelArg)
// clang-format on

enum Function {
#define STUB_ENUM(name) k##name,
  STUB_FUNCTIONS(STUB_ENUM)
#undef STUB_ENUM
      kFunctionCount
};

extern const char* const kNames[kFunctionCount];
extern const long kDefaults[STUB_SETTING_COUNT];

struct Object {
  std::atomic<cl_uint> references{1};
  Object* parent = nullptr;  // context of a queue or program, program of a kernel, buffer of a part
  cl_command_queue_properties properties = 0;
  bool low_priority = false;
  std::atomic<long> polls{0};        // of an event
  std::string text;                  // source of a program
  std::string options;               // that a program was built with
  std::vector<unsigned char> bytes;  // content of a buffer
  size_t origin = 0;                 // of a sub-buffer, in its parent
  bool is_gemm = false;              // of a kernel
  bool is_sgemm = false;             // likewise, with the arguments of kernels/blas/sgemm
  bool is_scale = false;             // out = factor * in
  long run_ns = 0;                   // of an event: of what ran; 0: STUB_RUN_NS
  cl_uint argument_count = 0;        // of a kernel
  size_t argument_size[32] = {};
  unsigned char argument[32][16] = {};
};

struct State {
  State();
  idletune::bench::StubCalls<kFunctionCount> calls{kNames};
  std::atomic<long> settings[STUB_SETTING_COUNT] = {};
  std::atomic<long> live{0};
  std::mutex objects_mutex;
  std::set<Object*> objects;  // live ones: what callers leak on purpose stays reachable
  std::mutex mutex;           // of what follows
  unsigned long binaries_given = 0;
  std::vector<unsigned char> last_binary;
  std::string last_options;
  StubLaunch last_launch = {};
};

extern State* const the_state;  // outlives every exit handler
inline State& state() { return *the_state; }

inline long setting(StubSetting which) {
  return state().settings[which].load(std::memory_order_relaxed);
}

// Counts the call; the error it is scripted to fail with, or CL_SUCCESS.
inline cl_int enter(Function function) { return state().calls.enter(function); }

template <class Handle>
Object* object_of(Handle handle) {
  return reinterpret_cast<Object*>(handle);
}

// Of a buffer or sub-buffer.
inline unsigned char* data_of(Object* memory) {
  const bool is_part = memory->bytes.empty() && memory->parent != nullptr;
  return is_part ? memory->parent->bytes.data() + memory->origin : memory->bytes.data();
}

}  // namespace stub_opencl
