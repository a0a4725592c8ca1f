// The functions of a shared library by their names: how tests and benchmarks control their doubles.
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace idletune::test {

// Throws where there is no such library or function. The library stays loaded.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const std::string& path)
      : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(dlerror());
  }
  struct Symbol {
    void* address;
    template <class Function>
    operator Function*() const {  // of what it is assigned to
      return reinterpret_cast<Function*>(address);
    }
  };
  Symbol operator[](const char* name) const {
    void* const address = dlsym(library_, name);
    if (address == nullptr) throw std::runtime_error(dlerror());
    return {address};
  }

 private:
  void* library_;
};

}  // namespace idletune::test
