// Where the descriptions of shipped kernels are.
#pragma once

#include <string>

#include "tests/paths.hpp"

namespace idletune::test {

// Of kernels/NAME, or of kernels/blas/NAME for those of the library.
inline std::string kernel_path(const std::string& name) {
  const bool of_library = name == "sgemm" || name == "hgemm";
  return IDLETUNE_SOURCE_FOLDER "/kernels/" + std::string(of_library ? "blas/" : "") + name + "/" +
         name + ".xml";
}

}  // namespace idletune::test
