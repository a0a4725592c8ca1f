#include "tests/bench/stub_opencl/stub_control.h"

#include "tests/bench/stub_opencl/stub_state.hpp"

using namespace stub_opencl;

extern "C" {

#pragma GCC visibility push(default)

void stub_reset(void) {
  State& s = state();
  s.calls.reset();
  for (int i = 0; i < STUB_SETTING_COUNT; ++i) s.settings[i] = kDefaults[i];
  std::lock_guard<std::mutex> lock(s.mutex);
  s.binaries_given = 0;
  s.last_binary.clear();
  s.last_options.clear();
  s.last_launch = {};
}

void stub_set(enum StubSetting which, long value) { state().settings[which] = value; }

void stub_fail(const char* function, int error, unsigned after) {
  state().calls.fail(function, error, after);
}
void stub_fail_call(unsigned long n, int error) { state().calls.fail_call(n, error); }
unsigned long stub_counted_calls(void) { return state().calls.counted(); }
const char* stub_failed_call(void) { return state().calls.failed(); }
unsigned long stub_calls(const char* function) { return state().calls.made(function); }

long stub_live_objects(void) { return state().live; }

unsigned long stub_binaries_given(void) {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().binaries_given;
}

const unsigned char* stub_last_binary(size_t* size) {
  std::lock_guard<std::mutex> lock(state().mutex);
  *size = state().last_binary.size();
  return state().last_binary.data();
}

void stub_last_launch(struct StubLaunch* launch) {
  std::lock_guard<std::mutex> lock(state().mutex);
  *launch = state().last_launch;
}

int stub_is_low_priority(void* queue) { return object_of(queue)->low_priority ? 1 : 0; }

const char* stub_last_options(void) {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().last_options.c_str();
}

#pragma GCC visibility pop

}  // extern "C"
