// The application's launches on an OpenCL library whose every answer is scripted.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include <idletune/opencl.hpp>

#include "platform/opencl/loader.hpp"
#include "tests/unit/opencl/stub.hpp"
#include "tests/unit/opencl/stub_device.hpp"
#include "tests/unit/required.hpp"

using namespace std::chrono_literals;
using namespace idletune;
using namespace idletune::test;

TEST_CASE("a launch sets exactly its arguments and enqueues once") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device, 2);
  auto buffer = required(device->allocate(64));
  const Argument arguments[] = {buffer->argument(), 2.5f, std::int32_t{-7}, 1.25,
                                std::uint64_t{1} << 40};
  stub.reset();
  REQUIRE(program->enqueue(1, two_dimensions(), arguments, {}, nullptr).ok());
  CHECK(stub.calls("clSetKernelArg") == 5);
  CHECK(stub.calls("clEnqueueNDRangeKernel") == 1);
  CHECK(stub.calls(nullptr) == 6);
  StubLaunch launch;
  stub.last_launch(&launch);
  CHECK(launch.queue == opencl::handles(*device).queue);
  CHECK(launch.dimensions == 2);
  CHECK(launch.global[0] == 64);
  CHECK(launch.global[1] == 32);
  CHECK(launch.local[0] == 8);
  CHECK(launch.local[1] == 4);
  CHECK(launch.wait_count == 0);
  REQUIRE(launch.argument_count == 5);
  const std::size_t sizes[] = {sizeof(void*), 4, 4, 8, 8};
  for (int i = 0; i < 5; ++i) {
    CHECK(launch.argument_size[i] == sizes[i]);
    CHECK(std::memcmp(launch.argument[i], arguments[i].data(), sizes[i]) == 0);
  }
}

TEST_CASE("scalars that a lane's kernel has already are not set again, buffers are") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device, 2);
  auto buffer = required(device->allocate(64));
  Argument arguments[] = {buffer->argument(), 2.5f, std::int32_t{-7}, std::int64_t{-7}};
  const auto calls = [&](std::uint32_t lane) {
    stub.reset();
    REQUIRE(program->enqueue(lane, two_dimensions(), arguments, {}, nullptr).ok());
    StubLaunch launch;
    stub.last_launch(&launch);
    for (int i = 0; i < 4; ++i) {
      CHECK(std::memcmp(launch.argument[i], arguments[i].data(), arguments[i].size()) == 0);
    }
    return stub.calls("clSetKernelArg");
  };
  CHECK(calls(0) == 4);
  CHECK(calls(0) == 1);
  CHECK(calls(1) == 4);  // a kernel of its own
  arguments[2] = std::int32_t{8};
  CHECK(calls(0) == 2);
  arguments[2] = std::int32_t{-7};
  CHECK(calls(0) == 2);
  CHECK(calls(1) == 1);
  // What could not be set is set the next time.
  arguments[1] = 3.5f;
  stub.fail("clSetKernelArg", CL_INVALID_ARG_SIZE, 1);
  CHECK_FALSE(program->enqueue(0, two_dimensions(), arguments, {}, nullptr).ok());
  arguments[1] = 2.5f;
  CHECK(calls(0) == 2);
}

TEST_CASE("lanes have kernels of their own, the tuner another, and there are no more") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device, 3);
  CHECK(program->lanes() == 3);
  std::vector<void*> kernels;
  StubLaunch launch;
  for (std::uint32_t lane = 0; lane < 3; ++lane) {
    REQUIRE(program->enqueue(lane, two_dimensions(), {}, {}, nullptr).ok());
    stub.last_launch(&launch);
    kernels.push_back(launch.kernel);
  }
  REQUIRE(device->run(*program, two_dimensions(), {}, 1s).ok());
  stub.last_launch(&launch);
  kernels.push_back(launch.kernel);
  std::sort(kernels.begin(), kernels.end());
  CHECK(std::unique(kernels.begin(), kernels.end()) == kernels.end());
  const idletune::Status beyond = program->enqueue(3, two_dimensions(), {}, {}, nullptr);
  CHECK(beyond.code() == StatusCode::invalid_argument);
  CHECK(beyond.message() == "lane 3: expected one below 3");
}

TEST_CASE("a request for no lanes, too many, or no entry point is refused") {
  Stub stub;
  auto device = open_stub(stub);
  CHECK(device->compile(request_with(0)).code() == StatusCode::invalid_argument);
  CHECK(device->compile(request_with(257)).code() == StatusCode::invalid_argument);
  CompileRequest nameless = request_with(1);
  nameless.entry = "";
  CHECK(device->compile(nameless).code() == StatusCode::invalid_argument);
}

TEST_CASE_FIXTURE(OpenedStub, "a launch goes to the queue it names, with its events") {
  auto api = required(opencl::load(stub.path));
  auto context = static_cast<cl_context>(opencl::handles(*device).context);
  auto device_id = static_cast<cl_device_id>(opencl::handles(*device).device);
  cl_command_queue plain = api->CreateCommandQueue(context, device_id, 0, nullptr);
  cl_command_queue profiled =
      api->CreateCommandQueue(context, device_id, CL_QUEUE_PROFILING_ENABLE, nullptr);
  int first = 0, second = 0;
  const void* waits[] = {&first, &second};
  cl_event event = nullptr;
  LaunchOptions options;
  options.queue = plain;
  options.wait_list = waits;
  options.wait_count = 2;
  options.event = &event;
  void* ticket = &first;
  REQUIRE(program->enqueue(0, two_dimensions(), {}, options, &ticket).ok());
  CHECK(ticket == nullptr);  // no profiling there
  CHECK(event != nullptr);
  StubLaunch launch;
  stub.last_launch(&launch);
  CHECK(launch.queue == plain);
  CHECK(launch.wait_count == 2);
  api->ReleaseEvent(event);

  options.queue = profiled;
  options.wait_count = 0;  // of a list that has more room
  REQUIRE(program->enqueue(0, two_dimensions(), {}, options, &ticket).ok());
  CHECK(ticket == event);
  CHECK(*device->elapsed(ticket) == 1000ns);
  api->ReleaseEvent(event);
  api->ReleaseCommandQueue(plain);
  api->ReleaseCommandQueue(profiled);
  program.reset();
  device.reset();
  CHECK(stub.new_objects() == 0);
}

TEST_CASE_FIXTURE(OpenedStub, "a failing launch gives no ticket and no event") {
  const Argument arguments[] = {1.0f, 2.0f};
  void* ticket = nullptr;
  cl_event event = nullptr;
  LaunchOptions options;
  options.event = &event;
  stub.fail("clEnqueueNDRangeKernel", CL_OUT_OF_RESOURCES, 0);
  idletune::Status status = program->enqueue(0, two_dimensions(), arguments, options, &ticket);
  CHECK(status.code() == StatusCode::device_error);
  CHECK(ticket == nullptr);
  CHECK(event == nullptr);
  stub.reset();
  stub.fail("clSetKernelArg", CL_INVALID_ARG_SIZE, 1);
  const Argument others[] = {3.0f, 4.0f};
  status = program->enqueue(0, two_dimensions(), others, options, &ticket);
  CHECK(status.code() == StatusCode::invalid_argument);
  CHECK(status.message() == "argument 1: clSetKernelArg: CL_INVALID_ARG_SIZE (-51)");
  CHECK(stub.calls("clEnqueueNDRangeKernel") == 0);
}

TEST_CASE_FIXTURE(OpenedStub,
                  "elapsed keeps an unfinished ticket and releases a finished or failed one") {
  const long before = stub.live_objects();
  void* ticket = nullptr;
  REQUIRE(program->enqueue(0, two_dimensions(), {}, {}, &ticket).ok());
  stub.set(STUB_EVENT_STATUS, CL_RUNNING);
  CHECK(device->elapsed(ticket).code() == StatusCode::busy);
  CHECK(device->elapsed(ticket).code() == StatusCode::busy);
  CHECK(stub.live_objects() == before + 1);
  stub.set(STUB_EVENT_STATUS, 0);
  auto time = required(device->elapsed(ticket));
  CHECK(time == 1000ns);
  CHECK(stub.live_objects() == before);

  REQUIRE(program->enqueue(0, two_dimensions(), {}, {}, &ticket).ok());
  stub.set(STUB_EVENT_STATUS, CL_OUT_OF_RESOURCES);
  CHECK(device->elapsed(ticket).code() == StatusCode::device_error);
  CHECK(stub.live_objects() == before);

  stub.set(STUB_EVENT_STATUS, 0);
  REQUIRE(program->enqueue(0, two_dimensions(), {}, {}, &ticket).ok());
  stub.set(STUB_RUN_NS, 0);
  CHECK(device->elapsed(ticket).code() == StatusCode::device_error);
  CHECK(stub.live_objects() == before);
  CHECK(device->elapsed(nullptr).code() == StatusCode::unsupported);
}

TEST_CASE_FIXTURE(OpenedStub, "a discarded ticket is released") {
  const long before = stub.live_objects();
  void* ticket = nullptr;
  REQUIRE(program->enqueue(0, two_dimensions(), {}, {}, &ticket).ok());
  CHECK(stub.live_objects() == before + 1);
  device->discard(ticket);
  CHECK(stub.live_objects() == before);
  device->discard(nullptr);
}

TEST_CASE("a handle is looked at before a kernel gets it") {
  Stub stub;
  auto device = open_stub(stub);
  auto buffer = required(device->allocate(64));
  const Argument memory = buffer->argument();
  CHECK(device->check_buffer(memory, 64).ok());
  CHECK(device->check_buffer(memory, 65).message() ==
        "got a buffer of 64 bytes, expected at least 65");
  float number = 0;
  CHECK(device->check_buffer(&number, 4).message() == "got an address, expected a cl_mem");
  CHECK_FALSE(device->check_buffer(static_cast<void*>(nullptr), 4).ok());
  // What is known to be a buffer is asked for its size only.
  const unsigned long asked = stub.calls("clGetMemObjectInfo");
  CHECK(device->check_buffer(memory, 64).ok());
  CHECK(stub.calls("clGetMemObjectInfo") == asked + 1);
  auto image = required(device->allocate(64));
  stub.set(STUB_MEMORY_TYPE, CL_MEM_OBJECT_IMAGE2D);
  CHECK(device->check_buffer(image->argument(), 64).message() ==
        "got an image or a pipe, expected a buffer");
  stub.reset();
  auto other = open_stub(stub);
  CHECK(other->check_buffer(memory, 64).message() == "got a buffer of another context");
  stub.fail("clGetMemObjectInfo", CL_INVALID_MEM_OBJECT, 0);
  CHECK(device->check_buffer(memory, 64).code() == StatusCode::invalid_argument);
}

TEST_CASE("local memory is a size without an address") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  const Argument arguments[] = {Argument::local_memory(4096), std::uint8_t{7}};
  REQUIRE(program->enqueue(0, two_dimensions(), arguments, {}, nullptr).ok());
  StubLaunch launch;
  stub.last_launch(&launch);
  CHECK(launch.argument_size[0] == 4096);
  CHECK(launch.argument_size[1] == 1);
}

TEST_CASE_FIXTURE(OpenedStub, "queues are ordered by a marker on one and a barrier on the other") {
  const auto api = required(opencl::load(stub.path));
  const opencl::Handles handles = opencl::handles(*device);
  const auto make_queue = [&](cl_command_queue_properties properties) {
    return api->CreateCommandQueue(static_cast<cl_context>(handles.context),
                                   static_cast<cl_device_id>(handles.device), properties, nullptr);
  };
  cl_command_queue other = make_queue(0);
  cl_command_queue unordered = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  stub.reset();
  CHECK(device->order(nullptr, handles.queue).ok());
  CHECK(device->order(other, other).ok());
  CHECK(stub.calls("clEnqueueBarrierWithWaitList") == 0);  // one queue, in order
  CHECK(device->order(unordered, unordered).ok());
  CHECK(stub.calls("clEnqueueBarrierWithWaitList") == 1);
  CHECK(stub.calls("clEnqueueMarkerWithWaitList") == 0);
  const long live = stub.live_objects();
  CHECK(device->order(nullptr, other).ok());
  CHECK(stub.calls("clEnqueueMarkerWithWaitList") == 1);
  CHECK(stub.calls("clFlush") == 1);
  CHECK(stub.calls("clEnqueueBarrierWithWaitList") == 2);
  StubLaunch barrier;
  stub.last_launch(&barrier);
  CHECK(barrier.queue == other);
  CHECK(barrier.wait_count == 1);
  CHECK(stub.live_objects() == live);
  stub.fail("clEnqueueBarrierWithWaitList", CL_OUT_OF_RESOURCES, 0);
  CHECK(device->order(nullptr, other).code() == StatusCode::device_error);
  CHECK(stub.live_objects() == live);
  api->ReleaseCommandQueue(other);
  api->ReleaseCommandQueue(unordered);
}

TEST_CASE_FIXTURE(OpenedStub,
                  "a queue that its owner releases is kept for as long as it is marked") {
  const auto api = required(opencl::load(stub.path));
  const opencl::Handles handles = opencl::handles(*device);
  const auto make_queue = [&] {
    return api->CreateCommandQueue(static_cast<cl_context>(handles.context),
                                   static_cast<cl_device_id>(handles.device), 0, nullptr);
  };
  CHECK(*device->mark(nullptr, nullptr) == nullptr);
  CHECK(*device->mark(handles.queue, nullptr) == nullptr);
  const long before = stub.live_objects();
  cl_command_queue first = make_queue();
  auto mark = device->mark(first, nullptr);
  REQUIRE(mark.ok());
  CHECK(*device->mark(first, *mark) == *mark);
  api->ReleaseCommandQueue(first);
  CHECK(stub.live_objects() == before + 1);
  cl_command_queue second = make_queue();
  CHECK(device->order_after(*mark, first, second).ok());
  mark = device->mark(second, *mark);
  REQUIRE(mark.ok());
  api->ReleaseCommandQueue(second);
  CHECK(stub.live_objects() == before + 1);
  device->forget_mark(*mark);
  CHECK(stub.live_objects() == before);
}

TEST_CASE("launches are put in order on a queue out of order once somebody relies on it") {
  OpenedStub opened;
  Stub& stub = opened.stub;
  const auto api = required(opencl::load(stub.path));
  const opencl::Handles handles = opencl::handles(*opened.device);
  cl_command_queue unordered = api->CreateCommandQueue(
      static_cast<cl_context>(handles.context), static_cast<cl_device_id>(handles.device),
      CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, nullptr);
  auto device =
      required(opencl::adopt(handles.context, handles.device, unordered, options_for(stub)));
  auto program = compile_on(*device);
  stub.reset();
  const auto launch = [&] {
    REQUIRE(program->enqueue(0, two_dimensions(), {}, {}, nullptr).ok());
    return stub.calls("clEnqueueBarrierWithWaitList");
  };
  CHECK(launch() == 0);
  const auto queue = opencl::application_queue(*device);
  REQUIRE(queue.ok());
  CHECK(launch() == 1);
  api->ReleaseCommandQueue(unordered);
}
