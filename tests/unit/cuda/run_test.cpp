// The tuner's runs on a CUDA driver whose every answer is scripted, and what a failed one ends.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/unit/cuda/stub.hpp"
#include "tests/unit/cuda/stub_device.hpp"

using namespace std::chrono_literals;
using namespace idletune;
using namespace idletune::test;

TEST_CASE_FIXTURE(OpenedCudaStub,
                  "a run gives the time between its events and computes what it should") {
  auto program = compile_on(*device, "-DRUN_US=123");
  stub.set(CUDA_STUB_EVENT_POLLS, 5);
  auto times = device->run(*program, groups_of(8, 4), problem.arguments, 10s);
  REQUIRE_MESSAGE(times.ok(), times.status().to_string());
  CHECK(times->device.count() == doctest::Approx(123000).epsilon(0.001));
  CHECK(times->wall > 0ns);
  CHECK(stub.calls("cuEventQuery") == 6);
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(problem.output(*device, i) == 2.0f * static_cast<float>(i));
}

TEST_CASE_FIXTURE(
    OpenedCudaStub,
    "no time and a backward time are none, failing calls of a CUDA run are device errors") {
  auto program = compile_on(*device);
  auto run = [&] { return device->run(*program, groups_of(8, 4), problem.arguments, 10s); };
  for (long run_ns : {0L, -5000L}) {
    stub.set(CUDA_STUB_RUN_NS, run_ns);
    const auto times = run();
    REQUIRE(times.ok());
    CHECK(times->device == 0ns);
    CHECK(times->wall > 0ns);
  }
  stub.set(CUDA_STUB_RUN_NS, 1000);
  for (const char* call : {"cuEventRecord", "cuLaunchKernel", "cuEventQuery", "cuEventElapsedTime",
                           "cuCtxPushCurrent"}) {
    CAPTURE(call);
    stub.fail(call, cuda::kInvalidHandle, 0);
    auto times = run();
    CHECK(times.code() == StatusCode::device_error);
    CHECK(times.status().message().find(call) != std::string::npos);
    stub.fail(call, cuda::kSuccess, 0);
  }
  CHECK(run().ok());
  // Too many resources for one configuration are not the end of the device.
  auto greedy = compile_on(*device, "-DBEHAVIOUR=5");
  CHECK(device->run(*greedy, groups_of(8, 4), problem.arguments, 1s).code() ==
        StatusCode::device_error);
  CHECK(device->usable().ok());
  CHECK(run().ok());
}

TEST_CASE_FIXTURE(
    OpenedCudaStub,
    "after an error that ends the context every call says so, and nothing reaches the driver") {
  auto good = compile_on(*device);
  auto bad = compile_on(*device, "-DBEHAVIOUR=1");
  void* ticket = nullptr;
  REQUIRE(good->enqueue(0, groups_of(8, 4), problem.arguments, {}, &ticket).ok());
  auto times = device->run(*bad, groups_of(8, 4), problem.arguments, 10s);
  REQUIRE(times.code() == StatusCode::device_error);
  CHECK(times.status().message().find("CUDA_ERROR_ILLEGAL_ADDRESS (700)") != std::string::npos);

  stub.fail("cuInit", cuda::kSuccess, 0);
  const unsigned long calls = stub.calls(nullptr);
  std::uint8_t bytes[4] = {};
  const std::string expected =
      "device 'Stub GPU' is lost to this process: cuEventRecord: CUDA_ERROR_ILLEGAL_ADDRESS (700)";
  CHECK(device->usable().code() == StatusCode::device_error);
  CHECK(device->usable().message() == expected);
  CHECK(device->run(*good, groups_of(8, 4), problem.arguments, 1s).status().message() == expected);
  CHECK(device->compile(request_for()).status().message() == expected);
  CHECK(device->allocate(4).status().message() == expected);
  CHECK(device->window(*problem.out, 0, 4).status().message() == expected);
  CHECK(device->write(*problem.out, 0, bytes).message() == expected);
  CHECK(device->read(*problem.out, 0, bytes).message() == expected);
  CHECK(good->enqueue(0, groups_of(8, 4), problem.arguments, {}, nullptr).message() == expected);
  CHECK(device->elapsed(ticket).status().message() == expected);
  CHECK(stub.calls(nullptr) == calls);
  problem =
      ScaleProblem(*open_stub(CudaStub()));  // what the lost device still holds is let go unfreed
  good.reset();
  bad.reset();
  device.reset();
}

TEST_CASE_FIXTURE(OpenedCudaStub,
                  "an error of the application's own launches ends tuning on its device as well") {
  auto program = compile_on(*device);
  void* ticket = nullptr;
  REQUIRE(program->enqueue(0, groups_of(8, 4), problem.arguments, {}, &ticket).ok());
  CHECK(device->usable().ok());
  stub.set(CUDA_STUB_RUN_STATUS, cuda::kLaunchFailed);
  CHECK(device->elapsed(ticket).code() == StatusCode::device_error);
  CHECK(device->usable().message().find("CUDA_ERROR_LAUNCH_FAILED (719)") != std::string::npos);
}

TEST_CASE_FIXTURE(
    OpenedCudaStub,
    "after a CUDA timeout tuning is refused, launches go on and nothing is released") {
  auto program = compile_on(*device);
  auto endless = compile_on(*device, "-DBEHAVIOUR=3");
  const auto start = std::chrono::steady_clock::now();
  auto times = device->run(*endless, groups_of(8, 4), problem.arguments, 20ms);
  REQUIRE(times.code() == StatusCode::timeout);
  CHECK(std::chrono::steady_clock::now() - start >= 20ms);
  CHECK(times.status().message() == "kernel run outlived its deadline of 20 ms");
  CHECK(device->run(*program, groups_of(8, 4), problem.arguments, 1s).code() ==
        StatusCode::device_error);
  CHECK(device->compile(request_for()).code() == StatusCode::device_error);
  CHECK(device->allocate(4).code() == StatusCode::device_error);
  CHECK(device->usable().code() == StatusCode::device_error);
  CHECK(program->enqueue(0, groups_of(8, 4), problem.arguments, {}, nullptr).ok());
  const long live = stub.live_objects();
  program.reset();
  endless.reset();
  problem.out.reset();
  problem.in.reset();
  device.reset();
  CHECK(stub.live_objects() == live);
}
