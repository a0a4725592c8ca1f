// Which CUDA device IDLETUNE_TEST_CUDA asks tests for: `gpu` is this machine's own, by the usual
// libraries, `watched-gpu` the same below a tool that sees every access (compute-sanitizer); else the
// path of an emulated one, driver and NVRTC in one.
#pragma once

#include <cstdlib>
#include <string>

#include <idletune/cuda.hpp>

namespace idletune::test {

inline std::string asked_name() {
  const char* name = std::getenv("IDLETUNE_TEST_CUDA");
  return name == nullptr ? "" : name;
}

inline bool asks_for_cuda() { return !asked_name().empty(); }
inline bool asks_for_gpu() { return asked_name() == "gpu" || asked_name() == "watched-gpu"; }

// Whether what is read before it is written, and what lies outside of buffers, is seen besides.
inline bool sees_every_access() { return asks_for_cuda() && asked_name() != "gpu"; }

// The library of an emulated device; empty where none is asked for.
inline std::string emulated_cuda() { return asks_for_gpu() ? "" : asked_name(); }

inline cuda::OpenOptions asked_cuda() {
  cuda::OpenOptions options;
  options.library = options.nvrtc_library = emulated_cuda();
  const char* programs = std::getenv("IDLETUNE_TEST_PROGRAMS");
  if (programs != nullptr) options.cache_folder = programs;
  return options;
}

}  // namespace idletune::test
