// The emulated driver in this process, new for each test that makes one of these; or this machine's
// own, which finds nothing, where IDLETUNE_TEST_CUDA is `gpu`.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include <idletune/cuda.hpp>

#include "tests/emulated_cuda/control.h"
#include "tests/loaded_library.hpp"
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
    library_.emplace(own ? "libcuda.so.1" : IDLETUNE_EMULATED_CUDA);
    if (own) return;
    findings_ = (*library_)["emulated_cuda_findings"];
    finding_ = (*library_)["emulated_cuda_finding"];
    reset_ = (*library_)["emulated_cuda_reset"];
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
    return (*library_)[name];
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
  std::optional<idletune::test::LoadedLibrary> library_;
  decltype(&emulated_cuda_findings) findings_ = nullptr;
  decltype(&emulated_cuda_finding) finding_ = nullptr;
  decltype(&emulated_cuda_reset) reset_ = nullptr;
};

}  // namespace emulated_cuda
