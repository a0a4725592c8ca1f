// Prebuilt images on a scripted CUDA driver, with and without NVRTC.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/cuda.hpp>

#include "tests/unit/cuda/stub.hpp"
#include "tests/unit/cuda/stub_device.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

std::vector<std::uint8_t> made(const CudaStub& stub, int architecture, BinaryFormat format) {
  return required(cuda::compile_ahead(request_for(), architecture, format, stub.options()));
}

PrebuiltBinary binary_of(const std::vector<std::uint8_t>& image, BinaryFormat format,
                         std::uint64_t made_for) {
  return {format, Bytes(image.data(), image.size()), made_for};
}

cuda::OpenOptions without_nvrtc(const CudaStub& stub) {
  cuda::OpenOptions options = stub.options();
  options.nvrtc_library = "/nowhere/libnvrtc.so";
  return options;
}

}  // namespace

TEST_CASE("without NVRTC machine code of the architecture runs, PTX of an older one too") {
  const CudaStub stub;
  const auto cubin = made(stub, 87, BinaryFormat::cubin);
  const auto ptx = made(stub, 75, BinaryFormat::ptx);
  auto device = required(cuda::open(0, without_nvrtc(stub)));
  const PrebuiltBinary binaries[] = {binary_of(ptx, BinaryFormat::ptx, 75),
                                     binary_of(cubin, BinaryFormat::cubin, 87)};
  CompileRequest request = request_for();
  request.prebuilt = Span<const PrebuiltBinary>(binaries, 2);
  REQUIRE(device->compile(request).ok());
  CHECK(std::string(stub.last_image()).rfind("stub cubin sm_87", 0) == 0);  // before the PTX
  request.prebuilt = Span<const PrebuiltBinary>(binaries, 1);
  REQUIRE(device->compile(request).ok());
  CHECK(std::string(stub.last_image()).rfind("stub ptx ", 0) == 0);
}

TEST_CASE("images for other GPUs never reach the driver, and what is left is refused") {
  const CudaStub stub;
  const auto cubin = made(stub, 75, BinaryFormat::cubin);
  const auto ptx = made(stub, 90, BinaryFormat::ptx);
  auto device = required(cuda::open(0, without_nvrtc(stub)));
  const PrebuiltBinary binaries[] = {binary_of(cubin, BinaryFormat::cubin, 75),
                                     binary_of(ptx, BinaryFormat::ptx, 90)};
  CHECK_FALSE(device->fits(binaries[0]));
  CHECK_FALSE(device->fits(binaries[1]));
  CompileRequest request = request_for();
  request.prebuilt = Span<const PrebuiltBinary>(binaries, 2);
  CHECK(device->compile(request).code() == StatusCode::unsupported);
  CHECK(stub.calls("cuModuleLoadDataEx") == 0);
}

TEST_CASE("an image that the driver refuses is compiled from its source instead") {
  const CudaStub stub;
  const std::vector<std::uint8_t> junk{'j', 'u', 'n', 'k', 0};
  auto device = required(cuda::open(0, stub.options()));
  const PrebuiltBinary binary = binary_of(junk, BinaryFormat::cubin, 87);
  CompileRequest request = request_for();
  request.prebuilt = Span<const PrebuiltBinary>(&binary, 1);
  CHECK(device->compile(request).ok());
  CHECK(stub.calls("cuModuleLoadDataEx") == 2);
}

TEST_CASE("an architecture that NVRTC does not know is refused ahead of time") {
  const CudaStub stub;
  const auto image = cuda::compile_ahead(request_for(), 120, BinaryFormat::cubin, stub.options());
  CHECK(image.code() == StatusCode::unsupported);
}
