#include "tests/bench/stub_opencl/stub_state.hpp"

#include <cstdlib>

namespace stub_opencl {

const char* const kNames[kFunctionCount] = {
#define STUB_NAME(name) "cl" #name,
    STUB_FUNCTIONS(STUB_NAME)
#undef STUB_NAME
};

const long kDefaults[STUB_SETTING_COUNT] = {0, 0, 1000, 1, 1, 3, 1,
                                            0, 1, 256,  1, 1, 0, CL_MEM_OBJECT_BUFFER};

State::State() {
  for (int i = 0; i < STUB_SETTING_COUNT; ++i) settings[i] = kDefaults[i];
  if (const char* status = std::getenv("STUB_OPENCL_EVENT_STATUS")) {
    settings[STUB_EVENT_STATUS] = std::atol(status);
  }
  if (const char* gemm = std::getenv("STUB_OPENCL_GEMM")) settings[STUB_GEMM] = std::atol(gemm);
}

State* const the_state = new State;

}  // namespace stub_opencl
