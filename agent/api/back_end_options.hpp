// Back ends with the libraries that the environment names.
#pragma once

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

}  // namespace idletune::detail
