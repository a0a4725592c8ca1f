#include "tests/bench/stub_cuda/stub_state.hpp"

#include <cstdlib>

namespace stub_cuda {

const char* const kNames[kFunctionCount] = {
#define STUB_NAME(name, detail, parameters) "cu" #name,
    STUB_FUNCTIONS(STUB_NAME)
#undef STUB_NAME
        "cuGetProcAddress"};

const long kDefaults[CUDA_STUB_SETTING_COUNT] = {0, 0, 1000, 1, 12020, 87, 1, 1, 0, 1, 0, 0};

State::State() {
  for (int i = 0; i < CUDA_STUB_SETTING_COUNT; ++i) settings[i] = kDefaults[i];
  if (const char* gemm = std::getenv("STUB_CUDA_GEMM")) settings[CUDA_STUB_GEMM] = std::atol(gemm);
  for (int i = 0; i < kMaxDevices; ++i) {
    primary[i].device = i;
    default_streams[i].context = &primary[i];
  }
}

State* const the_state = new State;

thread_local std::vector<Context*> context_stack;
thread_local Stream stream_of_thread;
thread_local CaptureMode capture_mode = CaptureMode::global;

}  // namespace stub_cuda
