// Binaries made ahead of time on a real OpenCL device, carried by a package.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <idletune/opencl.hpp>

#include "agent/trial/compiled_variants.hpp"
#include "models/host/pack/pack.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/agent/tuned_packages.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

std::unique_ptr<Device> open_device() { return required(opencl::open(0)); }

// Small GEMM with a binary of its default for `device`.
std::vector<std::uint8_t> packed_for(Device& device) {
  std::vector<std::uint8_t> bytes = test::packed(test::small_gemm());
  const auto plain = required(KernelPackage::open(bytes, "plain"));
  const Configuration& configuration = plain->default_configuration();
  auto program = required(trial::compile_entry(device, *plain, plain->entry(), configuration));
  const std::vector<std::uint8_t> binary = program->binary();
  REQUIRE_FALSE(binary.empty());
  const PrebuiltBinary prebuilt{
      BinaryFormat::opencl_binary, {binary.data(), binary.size()}, device.info().driver_key()};
  return required(with_prebuilt(std::move(bytes), {{configuration, prebuilt}}));
}

}  // namespace

TEST_CASE("a package's binary is loaded on its device whatever its source would compile to") {
  auto device = open_device();
  const auto package = required(KernelPackage::open(packed_for(*device), "prebuilt"));
  const Configuration& configuration = package->default_configuration();
  REQUIRE(package->prebuilt(configuration).size() == 1);
  CHECK(device->fits(package->prebuilt(configuration)[0]));
  const std::string options = package->compile_options(configuration);
  CompileRequest request;
  request.source = "#error this is not to be compiled";
  request.entry = package->entry();
  request.options = options;
  CHECK_FALSE(device->compile(request).ok());
  request.prebuilt = package->prebuilt(configuration);
  const auto program = required(device->compile(request));
  CHECK(program->max_work_group_size() > 0);
}

TEST_CASE("a damaged binary is refused with its package and never reaches the driver") {
  auto device = open_device();
  std::vector<std::uint8_t> bytes = packed_for(*device);
  const auto package = required(KernelPackage::open(bytes, "prebuilt"));
  const Bytes binary = package->prebuilt(package->default_configuration())[0].bytes;
  const auto at = static_cast<std::size_t>(binary.data() - package->bytes().data());
  for (const std::size_t offset : {std::size_t{0}, binary.size() / 2, binary.size() - 1}) {
    std::vector<std::uint8_t> damaged = bytes;
    damaged[at + offset] ^= 0x10;
    CHECK(KernelPackage::open(std::move(damaged), "damaged").code() == StatusCode::corrupt);
  }
}
