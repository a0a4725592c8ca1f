// An NVRTC whose machine code is the source behind a line that says what it is for, and the
// options. See stub_control.h. With STUB_NVRTC_WITHOUT_CUBIN it is one of CUDA 10: PTX only, and it
// does not say which architectures it knows.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>

#include "platform/cuda/nvrtc_api.hpp"
#include "tests/bench/stub_calls.hpp"
#include "tests/bench/stub_cuda/stub_control.h"

namespace {

using namespace idletune::cuda;

#define STUB_FUNCTIONS(X) IDLETUNE_NVRTC_REQUIRED(X) IDLETUNE_NVRTC_OPTIONAL(X)

enum Function {
#define STUB_ENUM(name, result, parameters) k##name,
  STUB_FUNCTIONS(STUB_ENUM)
#undef STUB_ENUM
      kFunctionCount
};

constexpr const char* kNames[] = {
#define STUB_NAME(name, result, parameters) "nvrtc" #name,
    STUB_FUNCTIONS(STUB_NAME)
#undef STUB_NAME
};

constexpr long kDefaults[NVRTC_STUB_SETTING_COUNT] = {12020, 53, 90};

struct Compilation {
  std::string source, ptx, cubin, log;
};

struct State {
  State() {
    for (int i = 0; i < NVRTC_STUB_SETTING_COUNT; ++i) settings[i] = kDefaults[i];
  }
  idletune::bench::StubCalls<kFunctionCount> calls{kNames};
  std::atomic<long> settings[NVRTC_STUB_SETTING_COUNT] = {};
  std::atomic<long> live{0};
  std::mutex mutex;
  std::string last_options;
};

State& state() {
  static State* the_state = new State;
  return *the_state;
}

long setting(NvrtcStubSetting which) { return state().settings[which]; }

NvrtcError enter(Function function) { return state().calls.enter(function); }

#ifndef STUB_NVRTC_WITHOUT_CUBIN
constexpr int kArchitectures[] = {53, 62, 72, 75, 80, 86, 87, 89, 90};
bool is_known(int architecture) {
  return architecture >= setting(NVRTC_STUB_LOWEST_ARCHITECTURE) &&
         architecture <= setting(NVRTC_STUB_HIGHEST_ARCHITECTURE);
}
#endif

Compilation& compilation(NvrtcProgram program) { return *reinterpret_cast<Compilation*>(program); }

NvrtcError give(Function function, const std::string& text, char* out) {
  const NvrtcError error = enter(function);
  if (error == kNvrtcSuccess) std::memcpy(out, text.c_str(), text.size() + 1);
  return error;
}
NvrtcError give_size(Function function, const std::string& text, std::size_t* bytes) {
  *bytes = text.size() + 1;
  return enter(function);
}

// Of those that NVRTC knows; it refuses all others.
bool is_known_option(const std::string& option) {
  constexpr const char* kKnown[] = {"-D",      "-w",     "--gpu-architecture=", "--use_fast_math",
                                    "--fmad=", "--ftz=", "--maxrregcount="};
  return std::any_of(std::begin(kKnown), std::end(kKnown), [&](const std::string& known) {
    return known == "-w" ? option == known : option.rfind(known, 0) == 0;
  });
}

// Outside of every condition: the stub does not know which of those hold.
bool has_error(const std::string& source) {
  int conditions = 0;
  for (std::size_t at = source.find('#'); at != std::string::npos; at = source.find('#', at + 1)) {
    if (source.compare(at, 3, "#if") == 0) ++conditions;
    if (source.compare(at, 6, "#endif") == 0) --conditions;
    if (source.compare(at, 6, "#error") == 0 && conditions == 0) return true;
  }
  return false;
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

void nvrtc_stub_reset(void) {
  state().calls.reset();
  for (int i = 0; i < NVRTC_STUB_SETTING_COUNT; ++i) state().settings[i] = kDefaults[i];
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().last_options.clear();
}

void nvrtc_stub_set(enum NvrtcStubSetting which, long value) { state().settings[which] = value; }

void nvrtc_stub_fail(const char* function, int error) { state().calls.fail(function, error); }

unsigned long nvrtc_stub_fail_call(unsigned long n, int error) {
  const unsigned long counted = state().calls.counted();
  state().calls.fail_call(n, error);
  return counted;
}

unsigned long nvrtc_stub_calls(const char* function) { return state().calls.made(function); }

long nvrtc_stub_live_programs(void) { return state().live; }

const char* nvrtc_stub_last_options(void) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  return state().last_options.c_str();
}

NvrtcError nvrtcVersion(int* major, int* minor) {
  *major = static_cast<int>(setting(NVRTC_STUB_VERSION) / 1000);
  *minor = static_cast<int>(setting(NVRTC_STUB_VERSION) % 1000 / 10);
  return enter(kVersion);
}

const char* nvrtcGetErrorString(NvrtcError error) {
  switch (error) {
    case kNvrtcOutOfMemory: return "NVRTC_ERROR_OUT_OF_MEMORY";
    case kNvrtcInvalidOption: return "NVRTC_ERROR_INVALID_OPTION";
    case kNvrtcCompilation: return "NVRTC_ERROR_COMPILATION";
    default: return "NVRTC_ERROR unknown";
  }
}

NvrtcError nvrtcCreateProgram(NvrtcProgram* program, const char* source, const char*, int,
                              const char* const*, const char* const*) {
  const NvrtcError error = enter(kCreateProgram);
  if (error != kNvrtcSuccess) return error;
  auto* made = new Compilation;
  made->source = source;
  state().live.fetch_add(1);
  *program = reinterpret_cast<NvrtcProgram>(made);
  return kNvrtcSuccess;
}

NvrtcError nvrtcDestroyProgram(NvrtcProgram* program) {
  const NvrtcError error = enter(kDestroyProgram);
  delete reinterpret_cast<Compilation*>(*program);
  *program = nullptr;
  state().live.fetch_sub(1);
  return error;
}

NvrtcError nvrtcCompileProgram(NvrtcProgram program, int count, const char* const* options) {
  const NvrtcError error = enter(kCompileProgram);
  Compilation& made = compilation(program);
  std::string all, target;
  for (int i = 0; i < count; ++i) {
    all += options[i];
    all += ' ';
    const std::string option = options[i];
    const std::string prefix = "--gpu-architecture=";
    if (option.rfind(prefix, 0) == 0) target = option.substr(prefix.size());
    if (!is_known_option(option))
      made.log = "nvrtc: error: unrecognized option " + option + " found";
  }
  {
    const std::lock_guard<std::mutex> lock(state().mutex);
    state().last_options = all;
  }
  if (error != kNvrtcSuccess) return error;
  if (!made.log.empty()) return kNvrtcInvalidOption;
  if (has_error(made.source)) {
    made.log = "kernel.cu(1): error: #error directive\n";
    return kNvrtcCompilation;
  }
  const std::string rest = "\n" + all + "\n" + made.source;
  made.ptx = "stub ptx " + target + rest;
  if (target.rfind("sm_", 0) == 0) made.cubin = "stub cubin " + target + rest;
  return kNvrtcSuccess;
}

NvrtcError nvrtcGetPTXSize(NvrtcProgram program, std::size_t* bytes) {
  return give_size(kGetPTXSize, compilation(program).ptx, bytes);
}
NvrtcError nvrtcGetPTX(NvrtcProgram program, char* ptx) {
  return give(kGetPTX, compilation(program).ptx, ptx);
}
NvrtcError nvrtcGetProgramLogSize(NvrtcProgram program, std::size_t* bytes) {
  return give_size(kGetProgramLogSize, compilation(program).log, bytes);
}
NvrtcError nvrtcGetProgramLog(NvrtcProgram program, char* log) {
  return give(kGetProgramLog, compilation(program).log, log);
}

#ifndef STUB_NVRTC_WITHOUT_CUBIN
NvrtcError nvrtcGetCUBINSize(NvrtcProgram program, std::size_t* bytes) {
  const NvrtcError error = give_size(kGetCUBINSize, compilation(program).cubin, bytes);
  if (compilation(program).cubin.empty()) *bytes = 0;
  return error;
}
NvrtcError nvrtcGetCUBIN(NvrtcProgram program, char* cubin) {
  return give(kGetCUBIN, compilation(program).cubin, cubin);
}
NvrtcError nvrtcGetNumSupportedArchs(int* count) {
  *count = 0;
  for (int architecture : kArchitectures) *count += is_known(architecture) ? 1 : 0;
  return enter(kGetNumSupportedArchs);
}
NvrtcError nvrtcGetSupportedArchs(int* architectures) {
  for (int architecture : kArchitectures) {
    if (is_known(architecture)) *architectures++ = architecture;
  }
  return enter(kGetSupportedArchs);
}
#endif

#pragma GCC visibility pop

}  // extern "C"
