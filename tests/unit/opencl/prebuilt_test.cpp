// Prebuilt binaries on an OpenCL library that can do without its compiler.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/opencl.hpp>

#include "tests/unit/opencl/stub.hpp"
#include "tests/unit/opencl/stub_device.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

const std::vector<std::uint8_t> kCode{1, 2, 3, 4};

PrebuiltBinary binary_for(std::uint64_t driver_key) {
  return {BinaryFormat::opencl_binary, Bytes(kCode.data(), kCode.size()), driver_key};
}

}  // namespace

TEST_CASE("a prebuilt OpenCL binary of this driver is loaded, with its options and no source") {
  const Stub stub;
  auto device = open_stub(stub);
  const PrebuiltBinary binaries[] = {binary_for(1), binary_for(device->info().driver_key())};
  CHECK_FALSE(device->fits(binaries[0]));
  CHECK(device->fits(binaries[1]));
  CompileRequest request = request_with(1);
  request.prebuilt = Span<const PrebuiltBinary>(binaries, 2);
  auto program = device->compile(request);
  REQUIRE_MESSAGE(program.ok(), program.status().to_string());
  CHECK(stub.binaries_given() == 1);
  std::size_t size = 0;
  const unsigned char* given = stub.last_binary(&size);
  CHECK(std::vector<std::uint8_t>(given, given + size) == kCode);
  CHECK(std::string(stub.last_options()) == "-DA=1");
  CHECK(stub.calls("clCreateProgramWithSource") == 0);
}

TEST_CASE("without a compiler a device runs what is prebuilt and refuses the rest uncompiled") {
  const Stub stub;
  stub.set(STUB_COMPILER, 0);
  auto device = open_stub(stub);
  CHECK_FALSE(device->info().has_compiler);
  const PrebuiltBinary fitting = binary_for(device->info().driver_key());
  const PrebuiltBinary foreign = binary_for(device->info().driver_key() + 1);
  CompileRequest request = request_with(1);
  request.prebuilt = Span<const PrebuiltBinary>(&fitting, 1);
  CHECK(device->compile(request).ok());
  request.prebuilt = Span<const PrebuiltBinary>(&foreign, 1);
  const auto refused = device->compile(request);
  REQUIRE(refused.code() == StatusCode::unsupported);
  CHECK(refused.status().message().find("kernel 'entry' has no prebuilt binary for driver '") == 0);
  CHECK(stub.binaries_given() == 1);
  CHECK(stub.calls("clCreateProgramWithSource") == 0);
}

TEST_CASE("a prebuilt binary that the driver refuses is compiled from its source instead") {
  const Stub stub;
  auto device = open_stub(stub);
  const PrebuiltBinary binary = binary_for(device->info().driver_key());
  stub.fail("clCreateProgramWithBinary", -42, 0);
  CompileRequest request = request_with(1);
  request.prebuilt = Span<const PrebuiltBinary>(&binary, 1);
  CHECK(device->compile(request).ok());
  CHECK(stub.calls("clCreateProgramWithSource") == 1);
}

TEST_CASE("a program gives the binary that it can be loaded from again") {
  const Stub stub;
  auto device = open_stub(stub);
  const std::vector<std::uint8_t> binary = compile_on(*device)->binary();
  CHECK(std::string(binary.begin(), binary.end()) == "stub binary of kernel text");
}
