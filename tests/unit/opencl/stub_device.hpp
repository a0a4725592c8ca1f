// A device of the stub OpenCL library and its one kernel.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>

#include <idletune/opencl.hpp>

#include "tests/unit/opencl/stub.hpp"
#include "tests/unit/required.hpp"

namespace idletune::test {

inline opencl::OpenOptions options_for(const Stub& stub, const std::string& cache_folder = "") {
  opencl::OpenOptions options;
  options.library = stub.path;
  options.cache_folder = cache_folder;
  return options;
}

inline std::unique_ptr<Device> open_stub(const Stub& stub) {
  return required(opencl::open(0, options_for(stub)));
}

inline CompileRequest request_with(std::uint32_t lanes) {
  CompileRequest request;
  request.source = "kernel text";
  request.entry = "entry";
  request.options = "-DA=1";
  request.lanes = lanes;
  return request;
}

inline std::unique_ptr<Program> compile_on(Device& device, std::uint32_t lanes = 1) {
  return required(device.compile(request_with(lanes)));
}

// What most tests begin with.
struct OpenedStub {
  Stub stub;
  std::unique_ptr<Device> device = open_stub(stub);
  std::unique_ptr<Program> program = compile_on(*device);
};

inline Range two_dimensions() {
  Range range;
  range.global = {64, 32, 1};
  range.local = {8, 4, 1};
  range.dimensions = 2;
  return range;
}

}  // namespace idletune::test
