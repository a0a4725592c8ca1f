// What the tests of kernels share: opening a described kernel and running it on a device.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/opencl.hpp>

#include "agent/trial/output_check.hpp"
#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/cuda/asked_cuda.hpp"
#include "tests/unit/required.hpp"

namespace idletune::kernel_tests {

inline std::shared_ptr<const KernelPackage> open_package(const std::string& xml) {
  return required(KernelPackage::open(required(pack(required(read_kernel_xml(xml)))), xml));
}

// Elements of the guard zone behind a buffer, which would hide an access there from such a device.
inline std::size_t guard_elements(std::size_t wanted) {
  return test::sees_every_access() ? 0 : wanted;
}

// By OpenCL; or the CUDA device that is asked for.
inline std::unique_ptr<Device> open_first_device() {
  auto device =
      required(test::asks_for_cuda() ? cuda::open(0, test::asked_cuda()) : opencl::open(0));
  MESSAGE("device: " << device->info().name);
  return device;
}

// Whether the device can launch each step of the plan.
inline bool fits(const Device& device, const LaunchPlan& plan) {
  for (const PlannedStep& step : plan.steps()) {
    const auto& local = step.range.local;
    if (step.local_memory_bytes > device.info().local_memory_bytes ||
        local[0] * local[1] * local[2] > device.info().max_work_group_size) {
      return false;
    }
  }
  return true;
}

inline std::unique_ptr<Program> compile(Device& device, const KernelPackage& package,
                                        std::string_view entry, const std::string& options) {
  CompileRequest request;
  request.source = package.source();
  request.entry = entry;
  request.options = options;
  return required(device.compile(request));
}

// Of so many floats, which hold nothing yet.
inline std::unique_ptr<Buffer> allocate(Device& device, std::size_t size) {
  return required(device.allocate(size * sizeof(float)));
}

template <class T>
std::unique_ptr<Buffer> upload(Device& device, const std::vector<T>& values) {
  const Bytes bytes = test::bytes_of(values);
  auto buffer = required(device.allocate(bytes.size()));
  REQUIRE(device.write(*buffer, 0, bytes).ok());
  return buffer;
}

// The first `size` elements.
template <class T = float>
std::vector<T> download(Device& device, const Buffer& buffer, std::size_t size) {
  std::vector<T> values(size);
  REQUIRE(device.read(buffer, 0, test::writable_bytes_of(values)).ok());
  return values;
}

// Runs once and waits; generous, since simulators run this too.
inline void run(Device& device, Program& program, const Range& range,
                Span<const Argument> arguments) {
  auto times = device.run(program, range, arguments, std::chrono::minutes(5));
  REQUIRE_MESSAGE(times.ok(), times.status().to_string());
}

// What runs, and its outputs: appended to the file that IDLETUNE_KEEP_OUTPUTS names, to be compared
// with another back end's (tests/campaigns/emulated_cuda/compare).
inline std::string& run_label() {
  static std::string label;
  return label;
}
inline std::FILE* output_file() {
  const char* path = std::getenv("IDLETUNE_KEEP_OUTPUTS");
  static std::FILE* const file = path != nullptr ? std::fopen(path, "ab") : nullptr;
  return file;
}
template <class T>
void keep_output(std::string_view argument, const std::vector<T>& values) {
  std::FILE* file = output_file();
  if (file == nullptr) return;
  std::fprintf(file, "%s %s|%zu|%zu\n", run_label().c_str(), std::string(argument).c_str(),
               sizeof(T), values.size());
  std::fwrite(values.data(), sizeof(T), values.size(), file);
}

// What a trial says of an output that ought to hold `expected`; empty if it is right.
template <class T>
std::string judged(const ArgumentSpec& spec, const Tolerance& tolerance,
                   const std::vector<T>& output, const std::vector<double>& expected) {
  REQUIRE(scalar_size_bytes(spec.type) == sizeof(T));
  REQUIRE(output.size() == expected.size());
  keep_output(spec.name, output);
  const std::vector<T> reference(expected.begin(), expected.end());
  trial::OutputCheck check(spec, tolerance, nullptr);
  check.add(test::bytes_of(output), test::bytes_of(reference));
  return check.message();
}

}  // namespace idletune::kernel_tests
