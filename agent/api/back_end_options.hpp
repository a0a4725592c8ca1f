// Back ends with the libraries that the environment names; each may be missing in a build.
#pragma once

#include <memory>
#include <string>

#include <idletune/device.hpp>
#include <idletune/options.hpp>
#if IDLETUNE_WITH_CUDA
#include <idletune/cuda.hpp>
#endif
#if IDLETUNE_WITH_OPENCL
#include <idletune/opencl.hpp>
#endif

namespace idletune::detail {

#if IDLETUNE_WITH_OPENCL
inline opencl::OpenOptions opencl_options() {
  opencl::OpenOptions options;
  options.library = environment_opencl_library();
  return options;
}
#endif

#if IDLETUNE_WITH_CUDA
inline cuda::OpenOptions cuda_options() {
  cuda::OpenOptions options;
  options.library = environment_cuda_library();
  options.nvrtc_library = environment_nvrtc_library();
  return options;
}
#endif

// Errors: those of opencl::open and cuda::open; unsupported where the build lacks the back end.
inline Result<std::unique_ptr<Device>> open_opencl(
    [[maybe_unused]] std::uint32_t index, [[maybe_unused]] const std::string& cache_folder) {
#if IDLETUNE_WITH_OPENCL
  opencl::OpenOptions options = opencl_options();
  options.cache_folder = cache_folder;
  return opencl::open(index, options);
#else
  return Status(StatusCode::unsupported, "this build has no OpenCL back end");
#endif
}

inline Result<std::unique_ptr<Device>> open_cuda([[maybe_unused]] std::uint32_t index,
                                                 [[maybe_unused]] const std::string& cache_folder) {
#if IDLETUNE_WITH_CUDA
  cuda::OpenOptions options = cuda_options();
  options.cache_folder = cache_folder;
  return cuda::open(index, options);
#else
  return Status(StatusCode::unsupported, "this build has no CUDA back end");
#endif
}

}  // namespace idletune::detail
