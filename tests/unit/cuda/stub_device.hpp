// A device of the stub CUDA driver, its one kernel and that kernel's problem.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <idletune/cuda.hpp>

#include "platform/cuda/driver.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/cuda/stub.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

namespace idletune::test {

constexpr const char* kScale =
    "extern \"C\" __global__ void scale(float* out, const float* in, float factor, int n) {}";

inline std::unique_ptr<Device> open_stub(const CudaStub& stub) {
  return required(cuda::open(0, stub.options()));
}

inline std::unique_ptr<Device> open_with_cache(const CudaStub& stub,
                                               const TemporaryFolder& folder) {
  cuda::OpenOptions options = stub.options();
  options.cache_folder = folder.path() + "/programs";
  return required(cuda::open(0, options));
}

inline CompileRequest request_for(const char* options = "", std::uint32_t lanes = 1) {
  return {kScale, "scale", options, lanes};
}

inline std::unique_ptr<Program> compile_on(Device& device, const char* options = "",
                                           std::uint32_t lanes = 1) {
  return required(device.compile(request_for(options, lanes)));
}

inline Range groups_of(std::size_t global, std::size_t local) {
  Range range;
  range.global = {global, 1, 1};
  range.local = {local, 1, 1};
  return range;
}

// Two buffers and the arguments of `scale` for them.
struct ScaleProblem {
  explicit ScaleProblem(Device& device, int count = 8) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i);
    for (std::unique_ptr<Buffer>* buffer : {&out, &in}) {
      auto made = required(device.allocate(values.size() * sizeof(float)));
      *buffer = std::move(made);
    }
    REQUIRE(device.write(*in, 0, bytes_of(values)).ok());
    arguments = {out->argument(), in->argument(), Argument(2.0f), Argument(count)};
  }
  float output(Device& device, std::size_t i) const {
    float value = -1;
    CHECK(
        device.read(*out, i * sizeof value, {reinterpret_cast<std::uint8_t*>(&value), sizeof value})
            .ok());
    return value;
  }
  std::unique_ptr<Buffer> out, in;
  std::vector<Argument> arguments;
};

// What most tests of launches begin with.
struct OpenedCudaStub {
  CudaStub stub;
  std::unique_ptr<Device> device = open_stub(stub);
  ScaleProblem problem{*device};
};

inline std::shared_ptr<const cuda::Driver> driver_of(const CudaStub& stub) {
  return required(cuda::load_driver(stub.path));
}

inline void* current_context(const cuda::Driver& driver) {
  cuda::ContextHandle context = nullptr;
  CHECK(driver.CtxGetCurrent(&context) == cuda::kSuccess);
  return context;
}

}  // namespace idletune::test
