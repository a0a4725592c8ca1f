#include "platform/cuda/driver.hpp"

#include <doctest/doctest.h>

#include <set>

#include <idletune/cuda.hpp>

#include "platform/cuda/session.hpp"
#include "tests/paths.hpp"
#include "tests/unit/cuda/stub.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

using idletune::StatusCode;
using idletune::test::CudaStub;
namespace cuda = idletune::cuda;

TEST_CASE("functions come from the driver's own look-up where it has one, else from its symbols") {
  struct Generation {
    const char* path;
    bool asks;
  };
  for (const Generation& generation :
       {Generation{IDLETUNE_STUB_CUDA, true}, Generation{IDLETUNE_STUB_CUDA_11, true},
        Generation{IDLETUNE_STUB_CUDA_10, false}}) {
    CAPTURE(generation.path);
    CudaStub stub(generation.path);
    auto driver = required(cuda::load_driver(generation.path));
    CHECK((stub.calls("cuGetProcAddress") > 0) == generation.asks);
    CHECK(driver->version == 12020);
    CHECK(driver->path == generation.path);
    CHECK((driver->FuncGetParamInfo != nullptr));
    CHECK((driver->ThreadExchangeStreamCaptureMode != nullptr));
    auto device = cuda::open(0, stub.options());
    REQUIRE_MESSAGE(device.ok(), device.status().to_string());
  }
}

TEST_CASE("a driver whose look-up fails is asked for its symbols") {
  CudaStub stub;
  stub.fail("cuGetProcAddress", cuda::kNotFound, 0);
  CHECK(cuda::load_driver(stub.path).ok());
}

TEST_CASE("a missing driver is not_found and named") {
  auto driver = cuda::load_driver("/nowhere/libcuda.so.1");
  REQUIRE(driver.code() == StatusCode::not_found);
  CHECK(driver.status().message().find("/nowhere/libcuda.so.1") != std::string::npos);
}

TEST_CASE("without a driver everything is not_found, and the usual one is named" *
          doctest::test_suite("no CUDA driver")) {
  auto usual = cuda::list();
  if (usual.ok() || usual.code() != StatusCode::not_found) {
    return idletune::test::skip("this machine has a CUDA driver");
  }
  CHECK(usual.status().message().find("libcuda.so.1") != std::string::npos);
  CHECK(cuda::open(0).code() == StatusCode::not_found);
  CHECK(cuda::adopt(nullptr, nullptr).code() == StatusCode::not_found);
}

TEST_CASE("a library that is no CUDA driver is refused, naming what it lacks") {
  auto driver = cuda::load_driver(IDLETUNE_STUB_NVRTC);
  REQUIRE(driver.code() == StatusCode::unsupported);
  CHECK(driver.status().message().find("lacks cu") != std::string::npos);
}

TEST_CASE("no device is an empty list; the toolkit's stub and other failures are refusals") {
  CudaStub stub;
  stub.set(CUDA_STUB_DEVICES, 0);
  auto devices = cuda::list(stub.options());
  REQUIRE(devices.ok());
  CHECK(devices->empty());
  CHECK(cuda::open(0, stub.options()).code() == StatusCode::not_found);
  CHECK(cuda::adopt(nullptr, nullptr, stub.options()).code() == StatusCode::not_found);
  stub.fail("cuInit", cuda::kStubLibrary, 0);
  CHECK(cuda::list(stub.options()).code() == StatusCode::not_found);
  stub.fail("cuInit", 803, 0);
  devices = cuda::list(stub.options());
  REQUIRE(devices.code() == StatusCode::unsupported);
  CHECK(devices.status().message().find("cuInit: unknown CUDA error (803)") != std::string::npos);
}

TEST_CASE("the kernel module's version is found in both of its texts") {
  CHECK(cuda::kernel_module_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  "
                                    "Sat Aug 19 01:15:15 UTC 2023\nGCC version:  gcc 12.2.0\n") ==
        "535.104.05");
  CHECK(cuda::kernel_module_version("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  "
                                    "540.4.0  Release Build  (x@y)") == "540.4.0");
  CHECK(cuda::kernel_module_version("no version 12 here") == "");
  CHECK(cuda::kernel_module_version("") == "");
}

TEST_CASE("errors that end a context are told from those that do not") {
  // By their numbers in CUDA's manual.
  const std::set<cuda::Error> ending = {214, 220, 226, 700, 702, 709, 710, 714, 715,
                                        716, 717, 718, 719, 721, 806, 810, 911, 999};
  for (cuda::Error error = 0; error < 1000; ++error) {
    CAPTURE(error);
    CHECK(cuda::spoils_context(error) == (ending.count(error) > 0));
  }
}

TEST_CASE("the stub refuses memory of no size, and what is asked of a stream that is gone") {
  CudaStub stub;
  auto driver = required(cuda::load_driver(stub.path));
  const auto& api = *driver;
  auto device = cuda::open(0, stub.options());
  auto other = cuda::open(0, stub.options());
  REQUIRE((device.ok() && other.ok()));
  const auto handles = cuda::handles(**other);
  auto* const gone = static_cast<cuda::StreamHandle>(handles.stream);
  REQUIRE(api.CtxPushCurrent(static_cast<cuda::ContextHandle>(handles.context)) == cuda::kSuccess);
  cuda::DeviceAddress memory = 0;
  CHECK(api.MemAlloc(&memory, 0) == cuda::kInvalidValue);
  REQUIRE(api.MemAlloc(&memory, 8) == cuda::kSuccess);
  float number = 1;
  CHECK(api.MemcpyHtoDAsync(memory, &number, 4, gone) == cuda::kSuccess);
  *other = nullptr;
  CHECK(api.MemcpyHtoDAsync(memory, &number, 4, gone) == cuda::kInvalidHandle);
  CHECK(api.MemcpyDtoHAsync(&number, memory, 4, gone) == cuda::kInvalidHandle);
  CHECK(api.MemcpyDtoDAsync(memory + 4, memory, 4, gone) == cuda::kInvalidHandle);
  CHECK(api.StreamSynchronize(gone) == cuda::kInvalidHandle);
  CHECK(api.MemFree(memory) == cuda::kSuccess);
  cuda::ContextHandle context = nullptr;
  CHECK(api.CtxPopCurrent(&context) == cuda::kSuccess);
}
