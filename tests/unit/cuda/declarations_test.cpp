// platform/cuda declares the driver API and NVRTC itself. Where the toolkit's headers are, they
// must say the same.
#include <doctest/doctest.h>

#include <cstddef>
#include <type_traits>

#include "platform/cuda/driver_api.hpp"
#include "platform/cuda/nvrtc_api.hpp"
#include "tests/unit/skip.hpp"

#if IDLETUNE_TEST_CUDA_HEADERS
#include <cuda.h>
#include <nvrtc.h>

namespace {

namespace own = idletune::cuda;

// Whether values of the two types are passed alike: pointers, or numbers of one size and kind.
template <class A, class B>
constexpr bool alike() {
  if constexpr (std::is_pointer_v<A> || std::is_pointer_v<B>) {
    return std::is_pointer_v<A> && std::is_pointer_v<B>;
  } else {
    return sizeof(A) == sizeof(B) && std::is_floating_point_v<A> == std::is_floating_point_v<B>;
  }
}

// As alike(), and what pointers point to as well, where that has a size.
template <class A, class B>
constexpr bool alike_through_pointers() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using To = std::remove_pointer_t<A>;
    using OtherTo = std::remove_pointer_t<B>;
    if constexpr (std::is_arithmetic_v<std::remove_cv_t<To>> ||
                  std::is_pointer_v<std::remove_cv_t<To>>) {
      return alike<std::remove_cv_t<To>, std::remove_cv_t<OtherTo>>();
    } else {
      return true;
    }
  } else {
    return alike<A, B>();
  }
}

template <class A, class B>
struct SameInterface : std::false_type {};
template <class R, class... A, class Q, class... B>
struct SameInterface<R(A...), Q(B...)> {
  static constexpr bool compare() {
    if constexpr (sizeof...(A) == sizeof...(B)) {
      return (alike_through_pointers<A, B>() && ...) && alike<R, Q>();
    } else {
      return false;
    }
  }
  static constexpr bool value = compare();
};

static_assert(!SameInterface<int(int), int(long long)>::value, "sizes are compared");
static_assert(!SameInterface<int(int), int(int, int)>::value, "counts are compared");
static_assert(!SameInterface<int(int*), int(long long*)>::value, "pointers are followed");

template <class T, class U>
constexpr bool equal(T own_value, U value) {
  return static_cast<long long>(own_value) == static_cast<long long>(value);
}

}  // namespace

// Functions that later toolkits have a newer version of under the plain name: the first one is
// meant.
#undef cuEventElapsedTime
#undef cuStreamGetCtx
extern "C" CUresult cuEventElapsedTime(float*, CUevent, CUevent);

TEST_CASE("our declarations of the driver API are the toolkit's" *
          doctest::test_suite("CUDA headers")) {
#define CHECK_SIGNATURE(name, detail, parameters) \
  CHECK_MESSAGE((SameInterface<own::Error parameters, decltype(::cu##name)>::value), "cu" #name);
  using namespace idletune::cuda;
  IDLETUNE_CUDA_REQUIRED(CHECK_SIGNATURE)
  CHECK_SIGNATURE(StreamIsCapturing, , (StreamHandle, CaptureStatus*))
  CHECK_SIGNATURE(ThreadExchangeStreamCaptureMode, , (CaptureMode*))
#if CUDA_VERSION >= 12040
  CHECK_SIGNATURE(FuncGetParamInfo, , (FunctionHandle, std::size_t, std::size_t*, std::size_t*))
#endif
#undef CHECK_SIGNATURE
  CHECK(sizeof(own::DeviceAddress) == sizeof(CUdeviceptr));
  CHECK(sizeof(own::DeviceOrdinal) == sizeof(CUdevice));
}

TEST_CASE("our numbers of errors are the toolkit's" * doctest::test_suite("CUDA headers")) {
  CHECK(equal(own::kSuccess, CUDA_SUCCESS));
  CHECK(equal(own::kInvalidValue, CUDA_ERROR_INVALID_VALUE));
  CHECK(equal(own::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY));
  CHECK(equal(own::kStubLibrary, CUDA_ERROR_STUB_LIBRARY));
  CHECK(equal(own::kNoDevice, CUDA_ERROR_NO_DEVICE));
  CHECK(equal(own::kInvalidImage, CUDA_ERROR_INVALID_IMAGE));
  CHECK(equal(own::kInvalidContext, CUDA_ERROR_INVALID_CONTEXT));
  CHECK(equal(own::kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU));
  CHECK(equal(own::kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE));
  CHECK(equal(own::kInvalidPtx, CUDA_ERROR_INVALID_PTX));
  CHECK(equal(own::kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE));
  CHECK(equal(own::kJitCompilerNotFound, CUDA_ERROR_JIT_COMPILER_NOT_FOUND));
  CHECK(equal(own::kUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION));
  CHECK(equal(own::kInvalidHandle, CUDA_ERROR_INVALID_HANDLE));
  CHECK(equal(own::kNotFound, CUDA_ERROR_NOT_FOUND));
  CHECK(equal(own::kNotReady, CUDA_ERROR_NOT_READY));
  CHECK(equal(own::kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS));
  CHECK(equal(own::kLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
  CHECK(equal(own::kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT));
  CHECK(equal(own::kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED));
  CHECK(equal(own::kAssert, CUDA_ERROR_ASSERT));
  CHECK(equal(own::kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR));
  CHECK(equal(own::kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION));
  CHECK(equal(own::kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS));
  CHECK(equal(own::kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE));
  CHECK(equal(own::kInvalidPc, CUDA_ERROR_INVALID_PC));
  CHECK(equal(own::kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED));
  CHECK(equal(own::kMpsRpcFailure, CUDA_ERROR_MPS_RPC_FAILURE));
  CHECK(equal(own::kUnknown, CUDA_ERROR_UNKNOWN));
#if CUDA_VERSION >= 12000
  CHECK(equal(own::kMpsClientTerminated, CUDA_ERROR_MPS_CLIENT_TERMINATED));
  CHECK(equal(own::kExternalDevice, CUDA_ERROR_EXTERNAL_DEVICE));
#endif
#if CUDA_VERSION >= 13000
  CHECK(equal(own::kContained, CUDA_ERROR_CONTAINED));
  CHECK(equal(own::kTensorMemoryLeak, CUDA_ERROR_TENSOR_MEMORY_LEAK));
#endif
}

TEST_CASE("our numbers of attributes, options and flags are the toolkit's" *
          doctest::test_suite("CUDA headers")) {
  using Device = own::DeviceAttribute;
  CHECK(equal(Device::max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  CHECK(equal(Device::max_block_dim_x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X));
  CHECK(equal(Device::max_block_dim_y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y));
  CHECK(equal(Device::max_block_dim_z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z));
  CHECK(
      equal(Device::max_shared_memory_per_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  CHECK(equal(Device::multiprocessor_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  CHECK(equal(Device::integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED));
  CHECK(equal(Device::compute_capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  CHECK(equal(Device::compute_capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  using Function = own::FunctionAttribute;
  CHECK(equal(Function::max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  CHECK(equal(Function::shared_size_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  CHECK(equal(own::JitOption::error_log_buffer, CU_JIT_ERROR_LOG_BUFFER));
  CHECK(equal(own::JitOption::error_log_buffer_size_bytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
  CHECK(equal(own::CaptureStatus::none, CU_STREAM_CAPTURE_STATUS_NONE));
  CHECK(equal(own::CaptureMode::global, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CHECK(equal(own::CaptureMode::relaxed, CU_STREAM_CAPTURE_MODE_RELAXED));
  CHECK(equal(own::kStreamNonBlocking, CU_STREAM_NON_BLOCKING));
  CHECK(equal(own::kEventDefault, CU_EVENT_DEFAULT));
  CHECK(equal(own::kEventWithoutTiming, CU_EVENT_DISABLE_TIMING));
  CHECK(equal(own::kProcAddressDefault, CU_GET_PROC_ADDRESS_DEFAULT));
}

TEST_CASE("our declarations of NVRTC are the toolkit's" * doctest::test_suite("CUDA headers")) {
  using namespace idletune::cuda;
#define CHECK_SIGNATURE(name, result, parameters)                                   \
  CHECK_MESSAGE((SameInterface<result parameters, decltype(::nvrtc##name)>::value), \
                "nvrt"                                                              \
                "c" #name);
  IDLETUNE_NVRTC_REQUIRED(CHECK_SIGNATURE)
  IDLETUNE_NVRTC_OPTIONAL(CHECK_SIGNATURE)
#undef CHECK_SIGNATURE
  CHECK(equal(own::kNvrtcSuccess, NVRTC_SUCCESS));
  CHECK(equal(own::kNvrtcOutOfMemory, NVRTC_ERROR_OUT_OF_MEMORY));
  CHECK(equal(own::kNvrtcInvalidOption, NVRTC_ERROR_INVALID_OPTION));
  CHECK(equal(own::kNvrtcCompilation, NVRTC_ERROR_COMPILATION));
}

#else

TEST_CASE("our declarations of CUDA are the toolkit's" * doctest::test_suite("CUDA headers")) {
  idletune::test::skip("cuda.h and nvrtc.h are not installed");
}

#endif
