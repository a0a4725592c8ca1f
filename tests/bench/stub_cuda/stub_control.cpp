#include "tests/bench/stub_cuda/stub_control.h"

#include "tests/bench/stub_cuda/stub_state.hpp"

using namespace stub_cuda;

extern "C" {

#pragma GCC visibility push(default)

void cuda_stub_reset(void) {
  State& s = state();
  s.calls.reset();
  for (int i = 0; i < CUDA_STUB_SETTING_COUNT; ++i) s.settings[i] = kDefaults[i];
  s.spoilt_by = kSuccess;
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.last_image.clear();
  s.last_launch = {};
  s.captured.clear();
  s.broken_graphs = 0;
}

void cuda_stub_set(enum CudaStubSetting which, long value) { state().settings[which] = value; }

void cuda_stub_fail(const char* function, int error, unsigned after) {
  state().calls.fail(function, error, after);
}
void cuda_stub_fail_call(unsigned long n, int error) { state().calls.fail_call(n, error); }
unsigned long cuda_stub_counted_calls(void) { return state().calls.counted(); }
const char* cuda_stub_failed_call(void) { return state().calls.failed(); }
unsigned long cuda_stub_calls(const char* function) { return state().calls.made(function); }

long cuda_stub_live_objects(void) { return state().live + state().primary_references; }

void* cuda_stub_create_context(int device) {
  auto* context = new Context;
  context->device = device;
  return context;
}
void cuda_stub_destroy_context(void* context) { delete static_cast<Context*>(context); }

long cuda_stub_broken_graphs(void) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  return state().broken_graphs;
}

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
