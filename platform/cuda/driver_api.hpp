// The part of CUDA's driver API that idletune uses, as its binary interface has it: declared here,
// so that no toolkit is needed to build. tests/unit/cuda/declarations_test.cpp compares these
// declarations with cuda.h where there is one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace idletune::cuda {

using Error = int;          // CUresult
using DeviceOrdinal = int;  // CUdevice
#if defined(__LP64__)
using DeviceAddress = unsigned long long;  // CUdeviceptr
#else
using DeviceAddress = unsigned int;
#endif
using ContextHandle = struct ContextObject*;    // CUcontext
using StreamHandle = struct StreamObject*;      // CUstream
using EventHandle = struct EventObject*;        // CUevent
using ModuleHandle = struct ModuleObject*;      // CUmodule
using FunctionHandle = struct FunctionObject*;  // CUfunction

// CUresult
inline constexpr Error kSuccess = 0;
inline constexpr Error kInvalidValue = 1;
inline constexpr Error kOutOfMemory = 2;
inline constexpr Error kStubLibrary = 34;
inline constexpr Error kNoDevice = 100;
inline constexpr Error kInvalidImage = 200;
inline constexpr Error kInvalidContext = 201;
inline constexpr Error kNoBinaryForGpu = 209;
inline constexpr Error kEccUncorrectable = 214;
inline constexpr Error kInvalidPtx = 218;
inline constexpr Error kNvlinkUncorrectable = 220;
inline constexpr Error kJitCompilerNotFound = 221;
inline constexpr Error kUnsupportedPtxVersion = 222;
inline constexpr Error kContained = 226;
inline constexpr Error kInvalidHandle = 400;
inline constexpr Error kNotFound = 500;
inline constexpr Error kNotReady = 600;
inline constexpr Error kIllegalAddress = 700;
inline constexpr Error kLaunchOutOfResources = 701;
inline constexpr Error kLaunchTimeout = 702;
inline constexpr Error kContextIsDestroyed = 709;
inline constexpr Error kAssert = 710;
inline constexpr Error kHardwareStackError = 714;
inline constexpr Error kIllegalInstruction = 715;
inline constexpr Error kMisalignedAddress = 716;
inline constexpr Error kInvalidAddressSpace = 717;
inline constexpr Error kInvalidPc = 718;
inline constexpr Error kLaunchFailed = 719;
inline constexpr Error kTensorMemoryLeak = 721;
inline constexpr Error kMpsRpcFailure = 806;
inline constexpr Error kMpsClientTerminated = 810;
inline constexpr Error kExternalDevice = 911;
inline constexpr Error kUnknown = 999;

// CUdevice_attribute
enum class DeviceAttribute : int {
  max_threads_per_block = 1,
  max_block_dim_x = 2,
  max_block_dim_y = 3,
  max_block_dim_z = 4,
  max_grid_dim_x = 5,
  max_grid_dim_y = 6,
  max_grid_dim_z = 7,
  max_shared_memory_per_block = 8,
  multiprocessor_count = 16,
  integrated = 18,
  compute_capability_major = 75,
  compute_capability_minor = 76
};

// CUfunction_attribute
enum class FunctionAttribute : int { max_threads_per_block = 0, shared_size_bytes = 1 };

// CUjit_option
enum class JitOption : int { error_log_buffer = 5, error_log_buffer_size_bytes = 6 };

enum class CaptureStatus : int { none = 0 };               // CUstreamCaptureStatus
enum class CaptureMode : int { global = 0, relaxed = 2 };  // CUstreamCaptureMode

inline constexpr unsigned kStreamNonBlocking = 1;        // CU_STREAM_NON_BLOCKING
inline constexpr unsigned kEventDefault = 0;             // CU_EVENT_DEFAULT
inline constexpr unsigned kEventWithoutTiming = 2;       // CU_EVENT_DISABLE_TIMING
inline constexpr std::uint64_t kProcAddressDefault = 0;  // CU_GET_PROC_ADDRESS_DEFAULT

// X(name, suffix of the exported symbol, parameters). A driver without one of these is refused; all
// but those with a suffix have kept their first signature, and the suffix is that of CUDA 11.
#define IDLETUNE_CUDA_REQUIRED(X)                                                                  \
  X(Init, , (unsigned flags))                                                                      \
  X(GetErrorName, , (Error error, const char** name))                                              \
  X(DriverGetVersion, , (int* version))                                                            \
  X(DeviceGet, , (DeviceOrdinal * device, int ordinal))                                            \
  X(DeviceGetCount, , (int* count))                                                                \
  X(DeviceGetName, , (char* name, int length, DeviceOrdinal device))                               \
  X(DeviceTotalMem, _v2, (std::size_t * bytes, DeviceOrdinal device))                              \
  X(DeviceGetAttribute, , (int* value, DeviceAttribute attribute, DeviceOrdinal device))           \
  X(DevicePrimaryCtxRetain, , (ContextHandle * context, DeviceOrdinal device))                     \
  X(DevicePrimaryCtxRelease, _v2, (DeviceOrdinal device))                                          \
  X(CtxPushCurrent, _v2, (ContextHandle context))                                                  \
  X(CtxPopCurrent, _v2, (ContextHandle * context))                                                 \
  X(CtxGetCurrent, , (ContextHandle * context))                                                    \
  X(CtxGetDevice, , (DeviceOrdinal * device))                                                      \
  X(CtxGetStreamPriorityRange, , (int* least, int* greatest))                                      \
  X(StreamCreate, , (StreamHandle * stream, unsigned flags))                                       \
  X(StreamCreateWithPriority, , (StreamHandle * stream, unsigned flags, int priority))             \
  X(StreamGetPriority, , (StreamHandle stream, int* priority))                                     \
  X(StreamGetCtx, , (StreamHandle stream, ContextHandle * context))                                \
  X(StreamDestroy, _v2, (StreamHandle stream))                                                     \
  X(StreamSynchronize, , (StreamHandle stream))                                                    \
  X(StreamWaitEvent, , (StreamHandle stream, EventHandle event, unsigned flags))                   \
  X(EventCreate, , (EventHandle * event, unsigned flags))                                          \
  X(EventDestroy, _v2, (EventHandle event))                                                        \
  X(EventRecord, , (EventHandle event, StreamHandle stream))                                       \
  X(EventQuery, , (EventHandle event))                                                             \
  X(EventElapsedTime, , (float* milliseconds, EventHandle start, EventHandle end))                 \
  X(MemAlloc, _v2, (DeviceAddress * address, std::size_t bytes))                                   \
  X(MemFree, _v2, (DeviceAddress address))                                                         \
  X(MemGetAddressRange, _v2, (DeviceAddress * start, std::size_t * bytes, DeviceAddress address))  \
  X(MemcpyHtoDAsync, _v2,                                                                          \
    (DeviceAddress to, const void* from, std::size_t bytes, StreamHandle stream))                  \
  X(MemcpyDtoHAsync, _v2, (void* to, DeviceAddress from, std::size_t bytes, StreamHandle stream))  \
  X(MemcpyDtoDAsync, _v2,                                                                          \
    (DeviceAddress to, DeviceAddress from, std::size_t bytes, StreamHandle stream))                \
  X(ModuleLoadDataEx, ,                                                                            \
    (ModuleHandle * module, const void* image, unsigned count, JitOption* options, void** values)) \
  X(ModuleUnload, , (ModuleHandle module))                                                         \
  X(ModuleGetFunction, , (FunctionHandle * function, ModuleHandle module, const char* name))       \
  X(FuncGetAttribute, , (int* value, FunctionAttribute attribute, FunctionHandle function))        \
  X(LaunchKernel, ,                                                                                \
    (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, StreamHandle stream,               \
     void** parameters, void** extra))

// X(name, CUDA version that brought it, parameters); null where the driver lacks it.
#define IDLETUNE_CUDA_OPTIONAL(X)                                            \
  X(StreamIsCapturing, 10000, (StreamHandle stream, CaptureStatus * status)) \
  X(ThreadExchangeStreamCaptureMode, 10010, (CaptureMode * mode))            \
  X(FuncGetParamInfo, 12040,                                                 \
    (FunctionHandle function, std::size_t index, std::size_t * offset, std::size_t * bytes))

}  // namespace idletune::cuda
