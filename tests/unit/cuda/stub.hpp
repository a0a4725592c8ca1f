// The stub CUDA driver and NVRTC with their controls, reset for each test that makes one of these.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <string>

#include <idletune/cuda.hpp>

#include "tests/bench/stub_cuda/stub_control.h"
#include "tests/paths.hpp"

namespace idletune::test {

struct CudaStub {
  explicit CudaStub(std::string driver = IDLETUNE_STUB_CUDA,
                    std::string compiler = IDLETUNE_STUB_NVRTC)
      : path(std::move(driver)), nvrtc_path(std::move(compiler)) {
    void* library = opened(path);
    resolve(library, "cuda_stub_reset", reset_driver);
    resolve(library, "cuda_stub_set", set);
    resolve(library, "cuda_stub_fail", fail);
    resolve(library, "cuda_stub_fail_call", fail_call);
    resolve(library, "cuda_stub_failed_call", failed_call);
    resolve(library, "cuda_stub_counted_calls", counted_calls);
    resolve(library, "cuda_stub_calls", calls);
    resolve(library, "cuda_stub_live_objects", live_objects);
    resolve(library, "cuda_stub_create_context", create_context);
    resolve(library, "cuda_stub_destroy_context", destroy_context);
    resolve(library, "cuda_stub_capture_mode", capture_mode);
    resolve(library, "cuda_stub_broken_graphs", broken_graphs);
    resolve(library, "cuda_stub_last_launch", last_launch);
    resolve(library, "cuda_stub_last_image", last_image);
    library = opened(nvrtc_path);
    resolve(library, "nvrtc_stub_reset", reset_nvrtc);
    resolve(library, "nvrtc_stub_set", set_nvrtc);
    resolve(library, "nvrtc_stub_fail", fail_nvrtc);
    resolve(library, "nvrtc_stub_fail_call", fail_nvrtc_call);
    resolve(library, "nvrtc_stub_calls", nvrtc_calls);
    resolve(library, "nvrtc_stub_live_programs", live_programs);
    resolve(library, "nvrtc_stub_last_options", last_options);
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
  decltype(&cuda_stub_reset) reset_driver = nullptr;
  decltype(&cuda_stub_set) set = nullptr;
  decltype(&cuda_stub_fail) fail = nullptr;
  decltype(&cuda_stub_fail_call) fail_call = nullptr;
  decltype(&cuda_stub_failed_call) failed_call = nullptr;
  decltype(&cuda_stub_counted_calls) counted_calls = nullptr;
  decltype(&cuda_stub_calls) calls = nullptr;
  decltype(&cuda_stub_live_objects) live_objects = nullptr;
  decltype(&cuda_stub_create_context) create_context = nullptr;
  decltype(&cuda_stub_destroy_context) destroy_context = nullptr;
  decltype(&cuda_stub_capture_mode) capture_mode = nullptr;
  decltype(&cuda_stub_broken_graphs) broken_graphs = nullptr;
  decltype(&cuda_stub_last_launch) last_launch = nullptr;
  decltype(&cuda_stub_last_image) last_image = nullptr;
  decltype(&nvrtc_stub_reset) reset_nvrtc = nullptr;
  decltype(&nvrtc_stub_set) set_nvrtc = nullptr;
  decltype(&nvrtc_stub_fail) fail_nvrtc = nullptr;
  decltype(&nvrtc_stub_fail_call) fail_nvrtc_call = nullptr;
  decltype(&nvrtc_stub_calls) nvrtc_calls = nullptr;
  decltype(&nvrtc_stub_live_programs) live_programs = nullptr;
  decltype(&nvrtc_stub_last_options) last_options = nullptr;

 private:
  static void* opened(const std::string& library_path) {
    void* library = dlopen(library_path.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(library != nullptr, dlerror());
    return library;
  }
  template <class Function>
  static void resolve(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    REQUIRE((function != nullptr));
  }
  long live_before = 0;
};

}  // namespace idletune::test
