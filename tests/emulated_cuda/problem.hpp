// What ends a module's loading or a kernel's run; thrown and caught within the emulated device.
#pragma once

#include <string>

namespace emulated_cuda {

struct Problem {
  int error;  // CUresult
  std::string text;
};

}  // namespace emulated_cuda
