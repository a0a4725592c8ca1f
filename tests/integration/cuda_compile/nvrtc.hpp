// NVIDIA's run-time compiler, opened from a file; no CUDA header and no GPU is needed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace idletune::cuda_compile {

class Nvrtc {
 public:
  // False if the library cannot be opened or lacks a function; `problem()` then says why.
  bool open(const char* library);
  const std::string& problem() const { return problem_; }
  std::string version() const;

  // Compiles to machine code; the number of its bytes, or 0 with the compiler's log in `problem()`.
  std::size_t compile(const std::string& source, const std::string& name,
                      const std::vector<std::string>& options);

 private:
  using Handle = void*;
  template <class F>
  bool resolve(F& function, const char* name);

  void* library_ = nullptr;
  std::string problem_;
  int (*version_)(int*, int*) = nullptr;
  int (*create_)(Handle*, const char*, const char*, int, const char* const*,
                 const char* const*) = nullptr;
  int (*destroy_)(Handle*) = nullptr;
  int (*compile_)(Handle, int, const char* const*) = nullptr;
  int (*log_size_)(Handle, std::size_t*) = nullptr;
  int (*log_)(Handle, char*) = nullptr;
  int (*cubin_size_)(Handle, std::size_t*) = nullptr;
};

}  // namespace idletune::cuda_compile
