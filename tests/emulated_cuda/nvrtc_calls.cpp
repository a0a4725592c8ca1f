// NVRTC for the emulated boards: NVIDIA's own, asked for PTX with source lines, of an architecture
// that it knows where it does not know the board's.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "platform/cuda/nvrtc_api.hpp"
#include "tests/emulated_cuda/driver_state.hpp"

using emulated_cuda::computed;
using emulated_cuda::state;
using idletune::cuda::kNvrtcSuccess;
using idletune::cuda::NvrtcError;
using idletune::cuda::NvrtcProgram;

namespace {

constexpr NvrtcError kInternalError = 11;

// The functions of NVIDIA's library; null where there is none.
struct RealNvrtc {
#define EMULATED_CUDA_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
  IDLETUNE_NVRTC_REQUIRED(EMULATED_CUDA_MEMBER)
  IDLETUNE_NVRTC_OPTIONAL(EMULATED_CUDA_MEMBER)
#undef EMULATED_CUDA_MEMBER
  bool is_there = false;
};

void* open_real_library() {
  const char* given = std::getenv("IDLETUNE_EMULATED_NVRTC");
  if (given != nullptr) return dlopen(given, RTLD_NOW | RTLD_LOCAL);
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so",
                           "/usr/local/cuda/lib/libnvrtc.so"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

RealNvrtc open_real() {
  RealNvrtc real;
  void* library = open_real_library();
  if (library == nullptr) return real;
  real.is_there = true;
#define EMULATED_CUDA_RESOLVE(name, result, parameters)                             \
  real.name = reinterpret_cast<decltype(real.name)>(dlsym(library, "nvrtc" #name)); \
  real.is_there = real.is_there && real.name != nullptr;
  IDLETUNE_NVRTC_REQUIRED(EMULATED_CUDA_RESOLVE)
  IDLETUNE_NVRTC_OPTIONAL(EMULATED_CUDA_RESOLVE)
#undef EMULATED_CUDA_RESOLVE
  return real;
}

const RealNvrtc& real() {
  static const RealNvrtc* opened = new RealNvrtc(open_real());
  return *opened;
}

struct Compilation {
  NvrtcProgram program = nullptr;
  std::string ptx;
};

Compilation* compilation_of(NvrtcProgram program) {
  return reinterpret_cast<Compilation*>(program);
}

// The newest that NVIDIA's library knows and that is not newer than the board's; else its oldest.
int known_architecture(int wanted) {
  int count = 0;
  real().GetNumSupportedArchs(&count);
  std::vector<int> known(static_cast<std::size_t>(std::max(count, 1)), wanted);
  real().GetSupportedArchs(known.data());
  int chosen = *std::min_element(known.begin(), known.end());
  for (int architecture : known) {
    if (architecture <= wanted) chosen = std::max(chosen, architecture);
  }
  return chosen;
}

// What is newer than the board is written down as the board's: the instructions are the same.
void relabel(std::string& ptx, int made_for, int wanted) {
  if (made_for <= wanted) return;
  const std::string target = ".target sm_" + std::to_string(made_for);
  const std::size_t at = ptx.find(target);
  if (at != std::string::npos)
    ptx.replace(at, target.size(), ".target sm_" + std::to_string(wanted));
}

NvrtcError compile(NvrtcProgram program, int count, const char* const* options) {
  constexpr std::string_view kArchitecture = "--gpu-architecture=compute_";
  Compilation& compilation = *compilation_of(program);
  int wanted = state().devices.empty() ? 0 : state().devices[0]->board.architecture;
  std::vector<std::string> words{"--generate-line-info"};
  for (int i = 0; i < count; ++i) {
    const std::string_view word = options[i];
    if (word.substr(0, kArchitecture.size()) == kArchitecture) {
      wanted = std::atoi(options[i] + kArchitecture.size());
    } else {
      words.emplace_back(word);
    }
  }
  const int made_for = known_architecture(wanted);
  words.push_back(std::string(kArchitecture) + std::to_string(made_for));
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  NvrtcError error = real().CompileProgram(compilation.program, static_cast<int>(pointers.size()),
                                           pointers.data());
  std::size_t size = 0;
  if (error == kNvrtcSuccess) error = real().GetPTXSize(compilation.program, &size);
  if (error != kNvrtcSuccess) return error;
  compilation.ptx.resize(size);
  error = real().GetPTX(compilation.program, &compilation.ptx[0]);
  relabel(compilation.ptx, made_for, wanted);
  return error;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

NvrtcError nvrtcVersion(int* major, int* minor) {
  return real().is_there ? real().Version(major, minor) : kInternalError;
}

const char* nvrtcGetErrorString(NvrtcError error) {
  return real().is_there ? real().GetErrorString(error) : "there is no NVRTC";
}

NvrtcError nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(state().devices.size());
  return real().is_there ? kNvrtcSuccess : kInternalError;
}

NvrtcError nvrtcGetSupportedArchs(int* architectures) {
  for (const auto& device : state().devices) *architectures++ = device->board.architecture;
  return kNvrtcSuccess;
}

NvrtcError nvrtcCreateProgram(NvrtcProgram* program, const char* source, const char* name,
                              int header_count, const char* const* headers,
                              const char* const* include_names) {
  if (!real().is_there) return kInternalError;
  auto* compilation = new Compilation;
  const NvrtcError error = real().CreateProgram(&compilation->program, source, name, header_count,
                                                headers, include_names);
  *program = reinterpret_cast<NvrtcProgram>(compilation);
  return error;
}

NvrtcError nvrtcDestroyProgram(NvrtcProgram* program) {
  Compilation* compilation = compilation_of(*program);
  const NvrtcError error = real().DestroyProgram(&compilation->program);
  delete compilation;
  *program = nullptr;
  return error;
}

NvrtcError nvrtcCompileProgram(NvrtcProgram program, int count, const char* const* options) {
  NvrtcError error = kNvrtcSuccess;
  computed([&] { error = compile(program, count, options); });
  return error;
}

NvrtcError nvrtcGetPTXSize(NvrtcProgram program, std::size_t* bytes) {
  *bytes = compilation_of(program)->ptx.size();
  return kNvrtcSuccess;
}

NvrtcError nvrtcGetPTX(NvrtcProgram program, char* ptx) {
  const std::string& text = compilation_of(program)->ptx;
  std::memcpy(ptx, text.data(), text.size());
  return kNvrtcSuccess;
}

NvrtcError nvrtcGetProgramLogSize(NvrtcProgram program, std::size_t* bytes) {
  return real().GetProgramLogSize(compilation_of(program)->program, bytes);
}

NvrtcError nvrtcGetProgramLog(NvrtcProgram program, char* log) {
  return real().GetProgramLog(compilation_of(program)->program, log);
}

#pragma GCC visibility pop
}
