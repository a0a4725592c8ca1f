// Opens NVRTC at run time and compiles CUDA C++ with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/result.hpp>

#include "platform/cuda/nvrtc_api.hpp"

namespace idletune::cuda {

// What to generate code for. Architectures are compute capabilities, 10 * major + minor: 87.
struct CodeTarget {
  int architecture = 0;
  bool machine_code = true;  // a cubin; else PTX, which the driver compiles when it loads it
};

class Nvrtc {
 public:
  // Opens `library`, or where it is empty the first of the usual names that opens, beginning with
  // those of the driver's CUDA version (1000 * major + 10 * minor; 0: no driver, the newest): code
  // of a newer major version need not load. One that knows `architecture`, if it is given, is
  // preferred. Errors: not_found (names what was tried), unsupported (a library without some
  // function).
  static Result<std::shared_ptr<const Nvrtc>> load(const std::string& library, int driver_version,
                                                   int architecture = 0);

  int version() const { return version_; }           // 1000 * major + 10 * minor
  std::string version_text() const;                  // "12.2"
  const std::string& path() const { return path_; }  // absolute

  // Machine code for `architecture` where NVRTC knows it, else PTX for the highest one below.
  // Error: unsupported (it knows none that low).
  Result<CodeTarget> target_for(int architecture) const;

  // Compiles `source`. `options` as CompileRequest has them. The result ends with a NUL if it is
  // PTX. Errors: compile_error with the first lines of the log, out_of_memory, unsupported (NVRTC
  // itself is incomplete).
  Result<std::vector<std::uint8_t>> compile(std::string_view source, std::string_view entry,
                                            std::string_view options,
                                            const CodeTarget& target) const;

 private:
  Nvrtc() = default;
  static Result<std::shared_ptr<const Nvrtc>> resolve_all(void* library, const std::string& path);
  std::vector<int> architectures() const;
  Status failure(NvrtcError error, NvrtcProgram program, std::string_view entry) const;
  std::string build_log(NvrtcProgram program) const;
  Result<std::vector<std::uint8_t>> code_of(NvrtcProgram program, std::string_view entry,
                                            bool machine_code) const;

#define IDLETUNE_NVRTC_MEMBER(name, result, parameters) result(*name##_) parameters = nullptr;
  IDLETUNE_NVRTC_REQUIRED(IDLETUNE_NVRTC_MEMBER)
  IDLETUNE_NVRTC_OPTIONAL(IDLETUNE_NVRTC_MEMBER)
#undef IDLETUNE_NVRTC_MEMBER
  std::string path_;
  int version_ = 0;
};

// What NVRTC is given for the options of a CompileRequest: words between blanks, those of OpenCL's
// compiler translated where they have a counterpart and left out where they mean nothing.
std::vector<std::string> nvrtc_options(std::string_view options);

}  // namespace idletune::cuda
