// The tuner's runs on an OpenCL library whose every answer is scripted.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include <idletune/opencl.hpp>

#include "platform/opencl/loader.hpp"
#include "tests/unit/opencl/stub.hpp"
#include "tests/unit/opencl/stub_device.hpp"
#include "tests/unit/required.hpp"

using namespace std::chrono_literals;
using namespace idletune;
using namespace idletune::test;

TEST_CASE_FIXTURE(OpenedStub,
                  "a run gives the device's own time, flushes first and leaves no event") {
  const long before = stub.live_objects();
  stub.set(STUB_EVENT_POLLS, 5);
  stub.set(STUB_RUN_NS, 123456);
  auto times = required(device->run(*program, two_dimensions(), {}, 10s));
  CHECK(times.device == 123456ns);
  CHECK(times.wall > 0ns);
  CHECK(stub.calls("clGetEventInfo") == 6);
  CHECK(stub.calls("clFlush") == 1);
  CHECK(stub.live_objects() == before);
}

TEST_CASE_FIXTURE(
    OpenedStub,
    "a zero or backward time is none, a failed event and failing calls are device errors") {
  const long before = stub.live_objects();
  auto code = [&] { return device->run(*program, two_dimensions(), {}, 10s).code(); };
  for (long run_ns : {0L, -1000L}) {
    stub.set(STUB_RUN_NS, run_ns);
    const auto times = required(device->run(*program, two_dimensions(), {}, 10s));
    CHECK(times.device == 0ns);
    CHECK(times.wall > 0ns);
  }
  stub.set(STUB_RUN_NS, 1);
  CHECK(code() == StatusCode::ok);
  stub.fail("clGetEventProfilingInfo", CL_PROFILING_INFO_NOT_AVAILABLE, 0);
  const auto untold = required(device->run(*program, two_dimensions(), {}, 10s));
  CHECK(untold.device == 0ns);
  CHECK(untold.wall > 0ns);
  stub.fail("clGetEventProfilingInfo", CL_SUCCESS, 0);
  stub.set(STUB_EVENT_STATUS, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  auto failed = device->run(*program, two_dimensions(), {}, 10s);
  CHECK(failed.code() == StatusCode::device_error);
  CHECK(failed.status().message().find("CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST") !=
        std::string::npos);
  stub.set(STUB_EVENT_STATUS, 0);
  for (const char* call :
       {"clEnqueueNDRangeKernel", "clFlush", "clGetEventInfo", "clGetEventProfilingInfo"}) {
    CAPTURE(call);
    stub.fail(call, CL_OUT_OF_HOST_MEMORY, 0);
    auto times = device->run(*program, two_dimensions(), {}, 10s);
    CHECK(times.code() == StatusCode::device_error);
    CHECK(times.status().message().find(call) != std::string::npos);
    stub.fail(call, CL_SUCCESS, 0);
  }
  CHECK(code() == StatusCode::ok);
  CHECK(stub.live_objects() == before);
}

TEST_CASE("where no queue can record profiles a run still gives the host's time") {
  Stub stub;
  stub.set(STUB_PROFILING, 0);
  stub.set(STUB_PRIORITY_HINTS, 0);
  auto api = required(opencl::load(stub.path));
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  api->GetPlatformIDs(1, &platform, nullptr);
  api->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, nullptr);
  cl_context context = api->CreateContext(nullptr, 1, &id, nullptr, nullptr, nullptr);
  cl_command_queue queue = api->CreateCommandQueue(context, id, 0, nullptr);
  {
    auto device = required(opencl::adopt(context, id, queue, options_for(stub)));
    auto program = compile_on(*device);
    auto times = required(device->run(*program, two_dimensions(), {}, 10s));
    CHECK(times.device == 0ns);
    CHECK(times.wall > 0ns);
  }
  api->ReleaseCommandQueue(queue);
  api->ReleaseContext(context);
  CHECK(stub.new_objects() == 0);
}

TEST_CASE_FIXTURE(OpenedStub,
                  "after a timeout tuning is refused, launches go on and nothing is released") {
  auto buffer = required(device->allocate(16));
  stub.set(STUB_EVENT_STATUS, CL_RUNNING);
  const auto start = std::chrono::steady_clock::now();
  auto times = device->run(*program, two_dimensions(), {}, 20ms);
  REQUIRE(times.code() == StatusCode::timeout);
  CHECK(std::chrono::steady_clock::now() - start >= 20ms);
  CHECK(times.status().message() == "kernel run outlived its deadline of 20 ms");
  stub.set(STUB_EVENT_STATUS, 0);
  std::uint8_t bytes[4] = {};
  stub.reset();
  CHECK(device->run(*program, two_dimensions(), {}, 20ms).code() == StatusCode::device_error);
  CHECK(device->compile(request_with(1)).code() == StatusCode::device_error);
  CHECK(device->allocate(4).code() == StatusCode::device_error);
  CHECK(device->write(*buffer, 0, bytes).code() == StatusCode::device_error);
  CHECK(device->read(*buffer, 0, bytes).code() == StatusCode::device_error);
  CHECK(stub.calls(nullptr) == 0);
  CHECK(program->enqueue(0, two_dimensions(), {}, {}, nullptr).ok());
  program.reset();
  buffer.reset();
  device.reset();
  for (const char* call :
       {"clReleaseKernel", "clReleaseProgram", "clReleaseMemObject", "clReleaseEvent",
        "clReleaseCommandQueue", "clReleaseContext", "clFinish"}) {
    CAPTURE(call);
    CHECK(stub.calls(call) == 0);
  }
}

TEST_CASE_FIXTURE(OpenedStub, "without a deadline a run is waited for") {
  stub.set(STUB_EVENT_POLLS, 300);
  CHECK(device->run(*program, two_dimensions(), {}, 0ns).ok());
}
