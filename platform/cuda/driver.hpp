// Opens the CUDA driver at run time and resolves the functions that idletune uses.
#pragma once

#include <memory>
#include <string>

#include <idletune/result.hpp>

#include "platform/cuda/driver_api.hpp"

namespace idletune::cuda {

// The functions of one driver library, by their names without the prefix. The library stays loaded
// until the process ends.
struct Driver {
#define IDLETUNE_CUDA_MEMBER(name, detail, parameters) Error(*name) parameters = nullptr;
  IDLETUNE_CUDA_REQUIRED(IDLETUNE_CUDA_MEMBER)
  IDLETUNE_CUDA_OPTIONAL(IDLETUNE_CUDA_MEMBER)
#undef IDLETUNE_CUDA_MEMBER
  std::string path;  // library_of() these
  int version = 0;   // highest CUDA version it serves: 1000 * major + 10 * minor
  bool has_devices = true;

  // "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)".
  std::string describe(Error error, const char* call) const;
  // device_error with that text, or ok for kSuccess.
  Status to_status(Error error, const char* call) const;
};

// Opens `library`, or where it is empty the first of the well-known names that opens, and
// initialises it. Errors: not_found (names what was tried and why it failed; the toolkit's stub
// library too), unsupported (a library without some function, which the message names, or one that
// refuses to initialise).
Result<std::shared_ptr<const Driver>> load_driver(const std::string& library);

// The version of the kernel module in the text of /proc/driver/nvidia/version: the first word of
// digits and dots; empty where there is none.
std::string kernel_module_version(const std::string& text);

}  // namespace idletune::cuda
