// The stub OpenCL library and its controls, reset for each test that makes one of these.
#pragma once

#include <string>

#include "tests/bench/stub_opencl/stub_control.h"
#include "tests/loaded_library.hpp"
#include "tests/paths.hpp"

namespace idletune::test {

struct Stub {
  Stub() {
    reset();
    live_before = live_objects();
  }
  ~Stub() { reset(); }
  // Objects made since this was, and not released yet.
  long new_objects() const { return live_objects() - live_before; }

  const std::string path = IDLETUNE_STUB_OPENCL;
  const LoadedLibrary library{path};
  decltype(&stub_reset) reset = library["stub_reset"];
  decltype(&stub_set) set = library["stub_set"];
  decltype(&stub_fail) fail = library["stub_fail"];
  decltype(&stub_fail_call) fail_call = library["stub_fail_call"];
  decltype(&stub_counted_calls) counted_calls = library["stub_counted_calls"];
  decltype(&stub_failed_call) failed_call = library["stub_failed_call"];
  decltype(&stub_calls) calls = library["stub_calls"];
  decltype(&stub_live_objects) live_objects = library["stub_live_objects"];
  decltype(&stub_binaries_given) binaries_given = library["stub_binaries_given"];
  decltype(&stub_last_binary) last_binary = library["stub_last_binary"];
  decltype(&stub_last_launch) last_launch = library["stub_last_launch"];
  decltype(&stub_is_low_priority) is_low_priority = library["stub_is_low_priority"];
  decltype(&stub_last_options) last_options = library["stub_last_options"];

 private:
  long live_before = 0;
};

}  // namespace idletune::test
