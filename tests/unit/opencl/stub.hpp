// The stub OpenCL library and its controls, reset for each test that makes one of these.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <string>

#include "tests/bench/stub_opencl/stub_control.h"
#include "tests/paths.hpp"

namespace idletune::test {

struct Stub {
  Stub() {
    library = dlopen(IDLETUNE_STUB_OPENCL, RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(library != nullptr, dlerror());
    resolve("stub_reset", reset);
    resolve("stub_set", set);
    resolve("stub_fail", fail);
    resolve("stub_fail_call", fail_call);
    resolve("stub_counted_calls", counted_calls);
    resolve("stub_failed_call", failed_call);
    resolve("stub_calls", calls);
    resolve("stub_live_objects", live_objects);
    resolve("stub_binaries_given", binaries_given);
    resolve("stub_last_binary", last_binary);
    resolve("stub_last_launch", last_launch);
    resolve("stub_is_low_priority", is_low_priority);
    resolve("stub_last_options", last_options);
    reset();
    live_before = live_objects();
  }
  ~Stub() { reset(); }
  // Objects made since this was, and not released yet.
  long new_objects() const { return live_objects() - live_before; }

  const std::string path = IDLETUNE_STUB_OPENCL;
  decltype(&stub_reset) reset = nullptr;
  decltype(&stub_set) set = nullptr;
  decltype(&stub_fail) fail = nullptr;
  decltype(&stub_fail_call) fail_call = nullptr;
  decltype(&stub_counted_calls) counted_calls = nullptr;
  decltype(&stub_failed_call) failed_call = nullptr;
  decltype(&stub_calls) calls = nullptr;
  decltype(&stub_live_objects) live_objects = nullptr;
  decltype(&stub_binaries_given) binaries_given = nullptr;
  decltype(&stub_last_binary) last_binary = nullptr;
  decltype(&stub_last_launch) last_launch = nullptr;
  decltype(&stub_is_low_priority) is_low_priority = nullptr;
  decltype(&stub_last_options) last_options = nullptr;

 private:
  template <class Function>
  void resolve(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    REQUIRE((function != nullptr));
  }
  void* library = nullptr;
  long live_before = 0;
};

}  // namespace idletune::test
