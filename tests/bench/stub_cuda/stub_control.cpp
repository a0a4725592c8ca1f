#include "tests/bench/stub_cuda/stub_control.h"

#include <cstring>

#include "tests/bench/stub_cuda/stub_state.hpp"

using namespace stub_cuda;

extern "C" {

#pragma GCC visibility push(default)

void cuda_stub_reset(void) {
  State& s = state();
  for (auto& calls : s.calls) calls = 0;
  for (auto& error : s.errors) error = kSuccess;
  for (int i = 0; i < CUDA_STUB_SETTING_COUNT; ++i) s.settings[i] = kDefaults[i];
  for (Context& context : s.primary) context.spoilt_by = kSuccess;
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.last_image.clear();
  s.last_launch = {};
}

void cuda_stub_set(enum CudaStubSetting which, long value) { state().settings[which] = value; }

void cuda_stub_fail(const char* function, int error, unsigned after) {
  for (int i = 0; i < kFunctionCount; ++i) {
    if (std::strcmp(kNames[i], function) != 0) continue;
    state().successes_left[i] = static_cast<long>(after);
    state().errors[i] = error;
  }
}

unsigned long cuda_stub_calls(const char* function) {
  unsigned long count = 0;
  for (int i = 0; i < kFunctionCount; ++i) {
    if (function == nullptr || std::strcmp(kNames[i], function) == 0) count += state().calls[i];
  }
  return count;
}

long cuda_stub_live_objects(void) { return state().live + state().primary_references; }

void* cuda_stub_create_context(int device) {
  auto* context = new Context;
  context->device = device;
  return context;
}
void cuda_stub_destroy_context(void* context) { delete static_cast<Context*>(context); }

int cuda_stub_capture_mode(void) { return static_cast<int>(capture_mode); }

void cuda_stub_last_launch(struct CudaStubLaunch* launch) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  *launch = state().last_launch;
}

const char* cuda_stub_last_image(void) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  return state().last_image.c_str();
}

#pragma GCC visibility pop

}  // extern "C"
