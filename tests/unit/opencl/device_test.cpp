// An OpenCL device and its memory on a library whose every answer is scripted.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>

#include <idletune/opencl.hpp>

#include "platform/opencl/loader.hpp"
#include "tests/unit/opencl/stub.hpp"
#include "tests/unit/opencl/stub_device.hpp"
#include "tests/unit/required.hpp"

using namespace std::chrono_literals;
using namespace idletune;
using namespace idletune::test;

TEST_CASE("the device's description comes from the driver, trimmed and with all versions once") {
  Stub stub;
  auto devices = required(opencl::list(options_for(stub)));
  REQUIRE(devices.size() == 1);
  const idletune::DeviceInfo& info = devices[0];
  CHECK(info.backend == "opencl");
  CHECK(info.platform == "Stub platform");
  CHECK(info.name == "Stub GPU");
  CHECK(info.vendor == "idletune");
  CHECK(info.driver == "1.0; OpenCL 3.0 stub");
  CHECK(info.compute_units == 8);
  CHECK(info.local_memory_bytes == 32768);
  CHECK(info.max_allocation_bytes == 1u << 28);
  CHECK(info.max_work_group_size == 256);
  CHECK(info.max_work_item_sizes[0] == 256);
  CHECK(info.max_work_item_sizes[2] == 64);
  CHECK(info.has_compiler);
  CHECK(!info.is_cpu);
  CHECK(info.unified_memory);
}

TEST_CASE("the driver's version is part of one key only") {
  idletune::DeviceInfo info;
  info.backend = "opencl";
  info.name = "GPU";
  info.driver = "1";
  idletune::DeviceInfo updated = info;
  updated.driver = "2";
  CHECK(info.device_key() == updated.device_key());
  CHECK(info.driver_key() != updated.driver_key());
  CHECK(info.driver_key() != info.device_key());
  idletune::DeviceInfo other = info;
  other.compute_units = 4;
  CHECK(info.device_key() != other.device_key());
  other = info;
  other.index = 3;  // the same hardware in another slot
  CHECK(info.device_key() == other.device_key());
}

TEST_CASE("a library without platforms or devices lists nothing and opens nothing") {
  Stub stub;
  stub.set(STUB_PLATFORMS, 0);
  auto devices = opencl::list(options_for(stub));
  REQUIRE(devices.ok());
  CHECK(devices->empty());
  CHECK(opencl::open(0, options_for(stub)).code() == StatusCode::not_found);
  stub.set(STUB_PLATFORMS, 1);
  stub.set(STUB_DEVICES, 0);
  devices = opencl::list(options_for(stub));
  REQUIRE(devices.ok());
  CHECK(devices->empty());
}

TEST_CASE("among equal devices open_matching takes the one of the wanted index") {
  Stub stub;
  stub.set(STUB_DEVICES, 3);
  auto devices = required(opencl::list(options_for(stub)));
  REQUIRE(devices.size() == 3);
  for (const idletune::DeviceInfo& wanted : devices) {
    auto device = required(opencl::open_matching(wanted, options_for(stub)));
    CHECK(device->info().index == wanted.index);
  }
  idletune::DeviceInfo gone = devices.back();
  stub.set(STUB_DEVICES, 2);
  auto device = required(opencl::open_matching(gone, options_for(stub)));
  CHECK(device->info().index == 0);
  gone.name = "Another GPU";
  CHECK(opencl::open_matching(gone, options_for(stub)).code() == StatusCode::not_found);
}

TEST_CASE("the tuning queue has the low priority where the driver can, and the info says so") {
  Stub stub;
  auto low_priority_launch = [&] {
    auto device = open_stub(stub);
    auto program = compile_on(*device);
    REQUIRE(device->run(*program, two_dimensions(), {}, 1s).ok());
    StubLaunch launch;
    stub.last_launch(&launch);
    const bool low = stub.is_low_priority(launch.queue) != 0;
    CHECK(device->info().low_priority_queue == low);
    CHECK(launch.queue != opencl::handles(*device).queue);
    CHECK(stub.is_low_priority(opencl::handles(*device).queue) == 0);
    return low;
  };
  CHECK(low_priority_launch());
  stub.set(STUB_PRIORITY_HINTS, 0);
  CHECK(!low_priority_launch());
  stub.set(STUB_PRIORITY_HINTS, 1);
  stub.set(STUB_OPENCL_MAJOR, 1);  // calling a 2.0 function would crash behind some loaders
  const unsigned long calls = stub.calls("clCreateCommandQueueWithProperties");
  CHECK(!low_priority_launch());
  CHECK(stub.calls("clCreateCommandQueueWithProperties") == calls);
  stub.set(STUB_QUEUE_EXTENSION, 1);
  CHECK(low_priority_launch());
  stub.fail("clCreateCommandQueueWithProperties", CL_INVALID_QUEUE_PROPERTIES, 0);
  CHECK(!low_priority_launch());
}

TEST_CASE("each failing call while opening is an error with its name, and leaks nothing") {
  Stub stub;
  stub.set(STUB_PRIORITY_HINTS, 0);
  for (const char* call : {"clGetPlatformIDs", "clCreateContext", "clCreateCommandQueue"}) {
    CAPTURE(call);
    stub.fail(call, CL_OUT_OF_RESOURCES, 0);
    auto device = opencl::open(0, options_for(stub));
    REQUIRE(device.code() == StatusCode::device_error);
    CHECK(device.status().message() == std::string(call) + ": CL_OUT_OF_RESOURCES (-5)");
    CHECK(stub.new_objects() == 0);
    stub.fail(call, CL_SUCCESS, 0);
  }
  // The second queue is the tuner's: refused twice, with and without profiling.
  stub.fail("clCreateCommandQueue", CL_OUT_OF_RESOURCES, 1);
  CHECK(opencl::open(0, options_for(stub)).code() == StatusCode::device_error);
  CHECK(stub.new_objects() == 0);
}

TEST_CASE("buffers, programs and the device may go in any order and leave nothing") {
  Stub stub;
  for (int order = 0; order < 2; ++order) {
    auto device = open_stub(stub);
    auto program = compile_on(*device, 2);
    auto buffer = required(device->allocate(16));
    if (order == 0) device.reset();
    program.reset();
    buffer.reset();
    device.reset();
    CHECK(stub.new_objects() == 0);
  }
}

TEST_CASE("windows start where the driver lets sub-buffers start") {
  Stub stub;
  auto device = open_stub(stub);
  CHECK(device->window_alignment_bytes() == 128);  // the driver says it in bits
  auto parent = required(device->allocate(1024));
  {
    auto window = required(device->window(*parent, 128, 256));
    CHECK(window->size_bytes() == 256);
    CHECK(std::memcmp(window->argument().data(), parent->argument().data(), sizeof(void*)) != 0);
  }
  CHECK(device->window(*parent, 896, 256).code() == StatusCode::invalid_argument);
  stub.fail("clCreateSubBuffer", CL_MISALIGNED_SUB_BUFFER_OFFSET, 0);
  CHECK(device->window(*parent, 64, 256).code() == StatusCode::device_error);
  parent.reset();
  device.reset();
  CHECK(stub.new_objects() == 0);
}

TEST_CASE("a failing allocation or copy is an error") {
  Stub stub;
  auto device = open_stub(stub);
  stub.fail("clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE, 0);
  CHECK(device->allocate(16).code() == StatusCode::out_of_memory);
  stub.reset();
  CHECK(device->allocate((1u << 28) + 1).code() == StatusCode::out_of_memory);
  CHECK(stub.calls("clCreateBuffer") == 0);
  auto buffer = required(device->allocate(16));
  std::uint8_t bytes[16] = {};
  stub.fail("clEnqueueWriteBuffer", CL_OUT_OF_RESOURCES, 0);
  stub.fail("clEnqueueReadBuffer", CL_OUT_OF_RESOURCES, 0);
  CHECK(device->write(*buffer, 0, bytes).code() == StatusCode::device_error);
  CHECK(device->read(*buffer, 0, bytes).code() == StatusCode::device_error);
  CHECK(device->write(*buffer, 1, bytes).code() == StatusCode::invalid_argument);
  CHECK(stub.calls("clEnqueueWriteBuffer") == 1);
}
