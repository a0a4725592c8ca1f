// The stub CUDA driver and NVRTC with their controls, reset for each test that makes one of these.
#pragma once

#include <string>

#include <idletune/cuda.hpp>

#include "tests/bench/stub_cuda/stub_control.h"
#include "tests/loaded_library.hpp"
#include "tests/paths.hpp"

namespace idletune::test {

struct CudaStub {
  explicit CudaStub(std::string driver = IDLETUNE_STUB_CUDA,
                    std::string compiler = IDLETUNE_STUB_NVRTC)
      : path(std::move(driver)), nvrtc_path(std::move(compiler)) {
    reset();
    live_before = live_objects();
  }
  ~CudaStub() { reset(); }
  void reset() const {
    reset_driver();
    reset_nvrtc();
  }
  // Objects made since this was, and not gone yet.
  long new_objects() const { return live_objects() - live_before; }
  cuda::OpenOptions options() const {
    cuda::OpenOptions options;
    options.library = path;
    options.nvrtc_library = nvrtc_path;
    return options;
  }
  CudaStubLaunch launch() const {
    CudaStubLaunch launch = {};
    last_launch(&launch);
    return launch;
  }

  const std::string path;
  const std::string nvrtc_path;
  const LoadedLibrary library{path};
  const LoadedLibrary nvrtc{nvrtc_path};
  decltype(&cuda_stub_reset) reset_driver = library["cuda_stub_reset"];
  decltype(&cuda_stub_set) set = library["cuda_stub_set"];
  decltype(&cuda_stub_fail) fail = library["cuda_stub_fail"];
  decltype(&cuda_stub_fail_call) fail_call = library["cuda_stub_fail_call"];
  decltype(&cuda_stub_failed_call) failed_call = library["cuda_stub_failed_call"];
  decltype(&cuda_stub_counted_calls) counted_calls = library["cuda_stub_counted_calls"];
  decltype(&cuda_stub_calls) calls = library["cuda_stub_calls"];
  decltype(&cuda_stub_live_objects) live_objects = library["cuda_stub_live_objects"];
  decltype(&cuda_stub_create_context) create_context = library["cuda_stub_create_context"];
  decltype(&cuda_stub_destroy_context) destroy_context = library["cuda_stub_destroy_context"];
  decltype(&cuda_stub_capture_mode) capture_mode = library["cuda_stub_capture_mode"];
  decltype(&cuda_stub_broken_graphs) broken_graphs = library["cuda_stub_broken_graphs"];
  decltype(&cuda_stub_last_launch) last_launch = library["cuda_stub_last_launch"];
  decltype(&cuda_stub_last_image) last_image = library["cuda_stub_last_image"];
  decltype(&nvrtc_stub_reset) reset_nvrtc = nvrtc["nvrtc_stub_reset"];
  decltype(&nvrtc_stub_set) set_nvrtc = nvrtc["nvrtc_stub_set"];
  decltype(&nvrtc_stub_fail) fail_nvrtc = nvrtc["nvrtc_stub_fail"];
  decltype(&nvrtc_stub_fail_call) fail_nvrtc_call = nvrtc["nvrtc_stub_fail_call"];
  decltype(&nvrtc_stub_calls) nvrtc_calls = nvrtc["nvrtc_stub_calls"];
  decltype(&nvrtc_stub_live_programs) live_programs = nvrtc["nvrtc_stub_live_programs"];
  decltype(&nvrtc_stub_last_options) last_options = nvrtc["nvrtc_stub_last_options"];

 private:
  long live_before = 0;
};

}  // namespace idletune::test
