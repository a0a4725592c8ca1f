#include "tests/integration/cuda_compile/nvrtc.hpp"

#include <dlfcn.h>

#include <cstring>

namespace idletune::cuda_compile {

template <class F>
bool Nvrtc::resolve(F& function, const char* name) {
  void* symbol = dlsym(library_, name);
  if (symbol == nullptr) {
    problem_ = std::string("the library has no ") + name;
    return false;
  }
  static_assert(sizeof(function) == sizeof(symbol));
  std::memcpy(&function, &symbol, sizeof(symbol));
  return true;
}

bool Nvrtc::open(const char* library) {
  library_ = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    problem_ = dlerror();
    return false;
  }
  return resolve(version_, "nvrtcVersion") && resolve(create_, "nvrtcCreateProgram") &&
         resolve(destroy_, "nvrtcDestroyProgram") && resolve(compile_, "nvrtcCompileProgram") &&
         resolve(log_size_, "nvrtcGetProgramLogSize") && resolve(log_, "nvrtcGetProgramLog") &&
         resolve(cubin_size_, "nvrtcGetCUBINSize");
}

std::string Nvrtc::version() const {
  int major = 0;
  int minor = 0;
  version_(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

std::size_t Nvrtc::compile(const std::string& source, const std::string& name,
                           const std::vector<std::string>& options) {
  Handle program = nullptr;
  if (create_(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr) != 0) {
    problem_ = "the compiler takes no program";
    return 0;
  }
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  std::size_t bytes = 0;
  // The size is 0 and no error after a failed compilation: ask for it after a good one only.
  if (compile_(program, static_cast<int>(words.size()), words.data()) == 0) {
    cubin_size_(program, &bytes);
    problem_ = bytes == 0 ? "no machine code came out" : "";
  } else {
    std::size_t size = 0;
    log_size_(program, &size);
    problem_.assign(size, ' ');
    if (size > 0) log_(program, &problem_[0]);
  }
  destroy_(&program);
  return bytes;
}

}  // namespace idletune::cuda_compile
