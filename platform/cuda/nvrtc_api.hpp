// The part of NVRTC (CUDA's run-time compiler) that idletune uses, as its binary interface has it;
// see driver_api.hpp.
#pragma once

#include <cstddef>

namespace idletune::cuda {

using NvrtcError = int;                           // nvrtcResult
using NvrtcProgram = struct NvrtcProgramObject*;  // nvrtcProgram

inline constexpr NvrtcError kNvrtcSuccess = 0;
inline constexpr NvrtcError kNvrtcOutOfMemory = 1;
inline constexpr NvrtcError kNvrtcInvalidOption = 5;
inline constexpr NvrtcError kNvrtcCompilation = 6;

// X(name, result, parameters). A library without one of these is refused.
#define IDLETUNE_NVRTC_REQUIRED(X)                                                             \
  X(Version, NvrtcError, (int* major, int* minor))                                             \
  X(GetErrorString, const char*, (NvrtcError error))                                           \
  X(CreateProgram, NvrtcError,                                                                 \
    (NvrtcProgram * program, const char* source, const char* name, int header_count,           \
     const char* const* headers, const char* const* include_names))                            \
  X(DestroyProgram, NvrtcError, (NvrtcProgram * program))                                      \
  X(CompileProgram, NvrtcError, (NvrtcProgram program, int count, const char* const* options)) \
  X(GetPTXSize, NvrtcError, (NvrtcProgram program, std::size_t * bytes))                       \
  X(GetPTX, NvrtcError, (NvrtcProgram program, char* ptx))                                     \
  X(GetProgramLogSize, NvrtcError, (NvrtcProgram program, std::size_t * bytes))                \
  X(GetProgramLog, NvrtcError, (NvrtcProgram program, char* log))

// Since CUDA 11.1 and 11.2; null in older libraries.
#define IDLETUNE_NVRTC_OPTIONAL(X)                                         \
  X(GetCUBINSize, NvrtcError, (NvrtcProgram program, std::size_t * bytes)) \
  X(GetCUBIN, NvrtcError, (NvrtcProgram program, char* cubin))             \
  X(GetNumSupportedArchs, NvrtcError, (int* count))                        \
  X(GetSupportedArchs, NvrtcError, (int* architectures))

}  // namespace idletune::cuda
