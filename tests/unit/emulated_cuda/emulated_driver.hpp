// The emulated driver in this process, new for each test that makes one of these; or this machine's
// own, which finds nothing, where IDLETUNE_TEST_CUDA is `gpu`.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include <idletune/cuda.hpp>

#include "tests/emulated_cuda/control.h"
#include "tests/paths.hpp"
#include "tests/unit/cuda/asked_cuda.hpp"

namespace emulated_cuda {

// Driver and NVRTC as options name them.
inline std::string tested_library() {
  return idletune::test::asks_for_gpu() ? "" : IDLETUNE_EMULATED_CUDA;
}

class EmulatedDriver {
 public:
  // `boards` as IDLETUNE_EMULATED_BOARDS has them.
  explicit EmulatedDriver(const char* boards = "") {
    ::setenv("IDLETUNE_EMULATED_FINDINGS", "/dev/null", 1);
    ::setenv("IDLETUNE_EMULATED_BOARDS", boards, 1);
    const bool own = idletune::test::asks_for_gpu();
    library_ = dlopen(own ? "libcuda.so.1" : IDLETUNE_EMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(library_ != nullptr, dlerror());
    if (own) return;
    findings_ = function<decltype(emulated_cuda_findings)>("emulated_cuda_findings");
    finding_ = function<decltype(emulated_cuda_finding)>("emulated_cuda_finding");
    reset_ = function<decltype(emulated_cuda_reset)>("emulated_cuda_reset");
    reset_();
  }
  ~EmulatedDriver() {
    if (reset_ != nullptr) reset_();
  }
  EmulatedDriver(const EmulatedDriver&) = delete;
  EmulatedDriver& operator=(const EmulatedDriver&) = delete;

  idletune::cuda::OpenOptions options() const {
    idletune::cuda::OpenOptions options;
    options.library = options.nvrtc_library = tested_library();
    return options;
  }
  // One that idletune itself does not call.
  template <class Function>
  Function* function(const char* name) const {
    auto* found = reinterpret_cast<Function*>(dlsym(library_, name));
    REQUIRE((found != nullptr));
    return found;
  }
  // The findings, one a line, when all that was launched has run.
  std::string found() const {
    std::string text;
    const std::size_t count = findings_ != nullptr ? findings_() : 0;
    for (std::size_t i = 0; i < count; ++i) {
      char finding[1000];
      finding_(i, finding, sizeof finding);
      text += finding + std::string("\n");
    }
    return text;
  }

 private:
  void* library_ = nullptr;
  decltype(&emulated_cuda_findings) findings_ = nullptr;
  decltype(&emulated_cuda_finding) finding_ = nullptr;
  decltype(&emulated_cuda_reset) reset_ = nullptr;
};

}  // namespace emulated_cuda
