// The OpenCL back end on a library whose every answer is scripted.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include <idletune/opencl.hpp>

#include "platform/opencl/loader.hpp"
#include "tests/unit/opencl/stub.hpp"
#include "tests/unit/os/temporary_folder.hpp"

using namespace std::chrono_literals;
using idletune::Argument;
using idletune::CompileRequest;
using idletune::Device;
using idletune::LaunchOptions;
using idletune::Program;
using idletune::Range;
using idletune::StatusCode;
using idletune::test::content_of;
using idletune::test::overwrite;
using idletune::test::Stub;
using idletune::test::TemporaryFolder;
namespace opencl = idletune::opencl;

namespace {

opencl::OpenOptions options_for(const Stub& stub) {
  opencl::OpenOptions options;
  options.library = stub.path;
  return options;
}

std::unique_ptr<Device> open_stub(const Stub& stub) {
  auto device = opencl::open(0, options_for(stub));
  REQUIRE_MESSAGE(device.ok(), device.status().to_string());
  return std::move(*device);
}

CompileRequest request_with(std::uint32_t lanes) {
  CompileRequest request;
  request.source = "kernel text";
  request.entry = "entry";
  request.options = "-DA=1";
  request.lanes = lanes;
  return request;
}

std::unique_ptr<Program> compile_on(Device& device, std::uint32_t lanes = 1) {
  auto program = device.compile(request_with(lanes));
  REQUIRE_MESSAGE(program.ok(), program.status().to_string());
  return std::move(*program);
}

Range two_dimensions() {
  Range range;
  range.global = {64, 32, 1};
  range.local = {8, 4, 1};
  range.dimensions = 2;
  return range;
}

}  // namespace

TEST_CASE("the device's description comes from the driver, trimmed and with all versions once") {
  Stub stub;
  auto devices = opencl::list(options_for(stub));
  REQUIRE(devices.ok());
  REQUIRE(devices->size() == 1);
  const idletune::DeviceInfo& info = (*devices)[0];
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
  auto devices = opencl::list(options_for(stub));
  REQUIRE(devices.ok());
  REQUIRE(devices->size() == 3);
  for (const idletune::DeviceInfo& wanted : *devices) {
    auto device = opencl::open_matching(wanted, options_for(stub));
    REQUIRE(device.ok());
    CHECK((*device)->info().index == wanted.index);
  }
  idletune::DeviceInfo gone = devices->back();
  stub.set(STUB_DEVICES, 2);
  auto device = opencl::open_matching(gone, options_for(stub));
  REQUIRE(device.ok());
  CHECK((*device)->info().index == 0);
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

TEST_CASE("a launch sets exactly its arguments and enqueues once") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device, 2);
  auto buffer = device->allocate(64);
  REQUIRE(buffer.ok());
  const Argument arguments[] = {(*buffer)->argument(), 2.5f, std::int32_t{-7}, 1.25,
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

TEST_CASE("a request for no lanes gets the device's number of them") {
  Stub stub;
  opencl::OpenOptions options = options_for(stub);
  options.launch_lanes = 6;
  auto device = opencl::open(0, options);
  REQUIRE(device.ok());
  CHECK(compile_on(**device, 0)->lanes() == 6);
  CHECK((*device)->compile(request_with(257)).code() == StatusCode::invalid_argument);
  CompileRequest nameless = request_with(1);
  nameless.entry = "";
  CHECK((*device)->compile(nameless).code() == StatusCode::invalid_argument);
}

TEST_CASE("a launch goes to the queue it names, with its events") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  auto api = opencl::load(stub.path);
  REQUIRE(api.ok());
  auto context = static_cast<cl_context>(opencl::handles(*device).context);
  auto device_id = static_cast<cl_device_id>(opencl::handles(*device).device);
  cl_command_queue plain = (*api)->CreateCommandQueue(context, device_id, 0, nullptr);
  cl_command_queue profiled =
      (*api)->CreateCommandQueue(context, device_id, CL_QUEUE_PROFILING_ENABLE, nullptr);
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
  (*api)->ReleaseEvent(event);

  options.queue = profiled;
  REQUIRE(program->enqueue(0, two_dimensions(), {}, options, &ticket).ok());
  CHECK(ticket == event);
  CHECK(*device->elapsed(ticket) == 1000ns);
  (*api)->ReleaseEvent(event);
  (*api)->ReleaseCommandQueue(plain);
  (*api)->ReleaseCommandQueue(profiled);
  program.reset();
  device.reset();
  CHECK(stub.new_objects() == 0);
}

TEST_CASE("a failing launch gives no ticket and no event") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
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
  status = program->enqueue(0, two_dimensions(), arguments, options, &ticket);
  CHECK(status.code() == StatusCode::invalid_argument);
  CHECK(status.message() == "argument 1: clSetKernelArg: CL_INVALID_ARG_SIZE (-51)");
  CHECK(stub.calls("clEnqueueNDRangeKernel") == 0);
}

TEST_CASE("elapsed keeps an unfinished ticket and releases a finished or failed one") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  const long before = stub.live_objects();
  void* ticket = nullptr;
  REQUIRE(program->enqueue(0, two_dimensions(), {}, {}, &ticket).ok());
  stub.set(STUB_EVENT_STATUS, CL_RUNNING);
  CHECK(device->elapsed(ticket).code() == StatusCode::busy);
  CHECK(device->elapsed(ticket).code() == StatusCode::busy);
  CHECK(stub.live_objects() == before + 1);
  stub.set(STUB_EVENT_STATUS, 0);
  auto time = device->elapsed(ticket);
  REQUIRE(time.ok());
  CHECK(*time == 1000ns);
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

TEST_CASE("a run gives the device's own time, flushes first and leaves no event") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  const long before = stub.live_objects();
  stub.set(STUB_EVENT_POLLS, 5);
  stub.set(STUB_RUN_NS, 123456);
  auto times = device->run(*program, two_dimensions(), {}, 10s);
  REQUIRE(times.ok());
  CHECK(times->device == 123456ns);
  CHECK(times->wall > 0ns);
  CHECK(stub.calls("clGetEventInfo") == 6);
  CHECK(stub.calls("clFlush") == 1);
  CHECK(stub.live_objects() == before);
}

TEST_CASE("a zero or backward time, a failed event and failing calls are device errors") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  const long before = stub.live_objects();
  auto code = [&] { return device->run(*program, two_dimensions(), {}, 10s).code(); };
  for (long run_ns : {0L, -1000L}) {
    stub.set(STUB_RUN_NS, run_ns);
    CHECK(code() == StatusCode::device_error);
  }
  stub.set(STUB_RUN_NS, 1);
  CHECK(code() == StatusCode::ok);
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
  auto api = opencl::load(stub.path);
  REQUIRE(api.ok());
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  (*api)->GetPlatformIDs(1, &platform, nullptr);
  (*api)->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, nullptr);
  cl_context context = (*api)->CreateContext(nullptr, 1, &id, nullptr, nullptr, nullptr);
  cl_command_queue queue = (*api)->CreateCommandQueue(context, id, 0, nullptr);
  {
    auto device = opencl::adopt(context, id, queue, options_for(stub));
    REQUIRE_MESSAGE(device.ok(), device.status().to_string());
    auto program = compile_on(**device);
    auto times = (*device)->run(*program, two_dimensions(), {}, 10s);
    REQUIRE(times.ok());
    CHECK(times->device == 0ns);
    CHECK(times->wall > 0ns);
  }
  (*api)->ReleaseCommandQueue(queue);
  (*api)->ReleaseContext(context);
  CHECK(stub.new_objects() == 0);
}

TEST_CASE("after a timeout tuning is refused, launches go on and nothing is released") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  auto buffer = device->allocate(16);
  REQUIRE(buffer.ok());
  stub.set(STUB_EVENT_STATUS, CL_RUNNING);
  const auto start = std::chrono::steady_clock::now();
  auto times = device->run(*program, two_dimensions(), {}, 20ms);
  REQUIRE(times.code() == StatusCode::timeout);
  CHECK(std::chrono::steady_clock::now() - start >= 20ms);
  stub.set(STUB_EVENT_STATUS, 0);
  std::uint8_t bytes[4] = {};
  stub.reset();
  CHECK(device->run(*program, two_dimensions(), {}, 20ms).code() == StatusCode::device_error);
  CHECK(device->compile(request_with(1)).code() == StatusCode::device_error);
  CHECK(device->allocate(4).code() == StatusCode::device_error);
  CHECK(device->write(**buffer, 0, bytes).code() == StatusCode::device_error);
  CHECK(device->read(**buffer, 0, bytes).code() == StatusCode::device_error);
  CHECK(stub.calls(nullptr) == 0);
  CHECK(program->enqueue(0, two_dimensions(), {}, {}, nullptr).ok());
  program.reset();
  buffer->reset();
  device.reset();
  for (const char* call :
       {"clReleaseKernel", "clReleaseProgram", "clReleaseMemObject", "clReleaseEvent",
        "clReleaseCommandQueue", "clReleaseContext", "clFinish"}) {
    CAPTURE(call);
    CHECK(stub.calls(call) == 0);
  }
}

TEST_CASE("without a deadline a run is waited for") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  stub.set(STUB_EVENT_POLLS, 300);
  CHECK(device->run(*program, two_dimensions(), {}, 0ns).ok());
}

TEST_CASE("a build failure has the first lines of the log and leaks nothing") {
  Stub stub;
  auto device = open_stub(stub);
  const long before = stub.live_objects();
  stub.fail("clBuildProgram", CL_BUILD_PROGRAM_FAILURE, 0);
  auto program = device->compile(request_with(1));
  REQUIRE(program.code() == StatusCode::compile_error);
  const std::string message = program.status().message();
  CHECK(message.find("kernel 'entry': clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)\n"
                     "stub.cl:1: error: scripted\n") == 0);
  CHECK(message.find("stub.cl:20:") != std::string::npos);
  CHECK(message.find("stub.cl:21:") == std::string::npos);
  CHECK(std::string(stub.last_options()) == "-DA=1");
  stub.fail("clGetProgramBuildInfo", CL_INVALID_PROGRAM, 0);
  program = device->compile(request_with(1));
  CHECK(program.status().message() ==
        "kernel 'entry': clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)");
  stub.fail("clBuildProgram", CL_COMPILER_NOT_AVAILABLE, 0);
  CHECK(device->compile(request_with(1)).code() == StatusCode::unsupported);
  stub.fail("clBuildProgram", CL_OUT_OF_HOST_MEMORY, 0);
  CHECK(device->compile(request_with(1)).code() == StatusCode::out_of_memory);
  stub.reset();
  stub.fail("clCreateProgramWithSource", CL_INVALID_VALUE, 0);
  CHECK(device->compile(request_with(1)).code() == StatusCode::device_error);
  stub.reset();
  stub.fail("clCreateKernel", CL_INVALID_KERNEL_NAME, 2);  // the third of four
  program = device->compile(request_with(3));
  REQUIRE(program.code() == StatusCode::compile_error);
  CHECK(program.status().message() ==
        "kernel 'entry': clCreateKernel: CL_INVALID_KERNEL_NAME (-46)");
  CHECK(stub.live_objects() == before);
}

TEST_CASE("the kernel's own limits are reported") {
  Stub stub;
  auto device = open_stub(stub);
  stub.set(STUB_KERNEL_WORK_GROUP_SIZE, 96);
  auto program = compile_on(*device);
  CHECK(program->max_work_group_size() == 96);
  CHECK(program->local_memory_bytes() == 1024);
  stub.fail("clGetKernelWorkGroupInfo", CL_INVALID_KERNEL, 0);
  program = compile_on(*device);
  CHECK(program->max_work_group_size() == device->info().max_work_group_size);
  CHECK(program->local_memory_bytes() == 0);
}

TEST_CASE("buffers, programs and the device may go in any order and leave nothing") {
  Stub stub;
  for (int order = 0; order < 2; ++order) {
    auto device = open_stub(stub);
    auto program = compile_on(*device, 2);
    auto buffer = device->allocate(16);
    REQUIRE(buffer.ok());
    if (order == 0) device.reset();
    program.reset();
    buffer->reset();
    device.reset();
    CHECK(stub.new_objects() == 0);
  }
}

TEST_CASE("windows start where the driver lets sub-buffers start") {
  Stub stub;
  auto device = open_stub(stub);
  CHECK(device->window_alignment_bytes() == 128);  // the driver says it in bits
  auto parent = device->allocate(1024);
  REQUIRE(parent.ok());
  {
    auto window = device->window(**parent, 128, 256);
    REQUIRE_MESSAGE(window.ok(), window.status().to_string());
    CHECK((*window)->size_bytes() == 256);
    CHECK(std::memcmp((*window)->argument().data(), (*parent)->argument().data(), sizeof(void*)) !=
          0);
  }
  CHECK(device->window(**parent, 896, 256).code() == StatusCode::invalid_argument);
  stub.fail("clCreateSubBuffer", CL_MISALIGNED_SUB_BUFFER_OFFSET, 0);
  CHECK(device->window(**parent, 64, 256).code() == StatusCode::device_error);
  parent->reset();
  device.reset();
  CHECK(stub.new_objects() == 0);
}

TEST_CASE("a discarded ticket is released") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  const long before = stub.live_objects();
  void* ticket = nullptr;
  REQUIRE(program->enqueue(0, two_dimensions(), {}, {}, &ticket).ok());
  CHECK(stub.live_objects() == before + 1);
  device->discard(ticket);
  CHECK(stub.live_objects() == before);
  device->discard(nullptr);
}

TEST_CASE("a failing allocation or copy is an error") {
  Stub stub;
  auto device = open_stub(stub);
  stub.fail("clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE, 0);
  CHECK(device->allocate(16).code() == StatusCode::out_of_memory);
  stub.reset();
  CHECK(device->allocate((1u << 28) + 1).code() == StatusCode::out_of_memory);
  CHECK(stub.calls("clCreateBuffer") == 0);
  auto buffer = device->allocate(16);
  REQUIRE(buffer.ok());
  std::uint8_t bytes[16] = {};
  stub.fail("clEnqueueWriteBuffer", CL_OUT_OF_RESOURCES, 0);
  stub.fail("clEnqueueReadBuffer", CL_OUT_OF_RESOURCES, 0);
  CHECK(device->write(**buffer, 0, bytes).code() == StatusCode::device_error);
  CHECK(device->read(**buffer, 0, bytes).code() == StatusCode::device_error);
  CHECK(device->write(**buffer, 1, bytes).code() == StatusCode::invalid_argument);
  CHECK(stub.calls("clEnqueueWriteBuffer") == 1);
}

TEST_CASE("a cached binary is used, and its bytes are those the driver gave") {
  Stub stub;
  TemporaryFolder folder;
  opencl::OpenOptions options = options_for(stub);
  options.cache_folder = folder.path();
  {
    auto device = opencl::open(0, options);
    REQUIRE(device.ok());
    compile_on(**device);
    CHECK(stub.binaries_given() == 0);
    CHECK(folder.files().size() == 1);
  }
  auto device = opencl::open(0, options);
  REQUIRE(device.ok());
  stub.reset();
  auto program = compile_on(**device, 2);
  CHECK(program->lanes() == 2);
  CHECK(stub.calls("clCreateProgramWithSource") == 0);
  CHECK(stub.binaries_given() == 1);
  std::size_t size = 0;
  const unsigned char* binary = stub.last_binary(&size);
  CHECK(std::string(binary, binary + size) == "stub binary of kernel text");
  CHECK(opencl::cache_counters(**device).hits == 1);
}

TEST_CASE("another source, entry, option or driver misses the cache") {
  Stub stub;
  TemporaryFolder folder;
  opencl::OpenOptions options = options_for(stub);
  options.cache_folder = folder.path();
  auto device = opencl::open(0, options);
  REQUIRE(device.ok());
  compile_on(**device);
  CompileRequest request = request_with(1);
  request.source = "kernel text ";
  CHECK((*device)->compile(request).ok());
  request = request_with(1);
  request.entry = "entry2";
  CHECK((*device)->compile(request).ok());
  request = request_with(1);
  request.options = "-DA=2";
  CHECK((*device)->compile(request).ok());
  stub.set(STUB_OPENCL_MAJOR, 2);  // an update of the driver
  auto updated = opencl::open(0, options);
  REQUIRE(updated.ok());
  compile_on(**updated);
  CHECK(stub.binaries_given() == 0);
  CHECK(opencl::cache_counters(**device).misses == 4);
  CHECK(opencl::cache_counters(**updated).misses == 1);
  CHECK(folder.files().size() == 5);
}

TEST_CASE("a damaged cache file never reaches the driver and is replaced") {
  Stub stub;
  TemporaryFolder folder;
  opencl::OpenOptions options = options_for(stub);
  options.cache_folder = folder.path();
  auto device = opencl::open(0, options);
  REQUIRE(device.ok());
  compile_on(**device);
  REQUIRE(folder.files().size() == 1);
  const std::string path = folder.files()[0];
  const std::string intact = content_of(path);
  std::uint64_t damaged = 0;
  auto compile_with = [&](const std::string& content) {
    overwrite(path, content);
    compile_on(**device);
    ++damaged;
    REQUIRE(stub.binaries_given() == 0);
    REQUIRE(content_of(path) == intact);
  };
  for (std::size_t at = 0; at < intact.size(); at += 3) {
    std::string flipped = intact;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    compile_with(flipped);
    compile_with(intact.substr(0, at));
  }
  compile_with(intact + "x");
  CHECK(opencl::cache_counters(**device).rejected == damaged);
  compile_on(**device);
  CHECK(stub.binaries_given() == 1);
}

TEST_CASE("a binary that the driver refuses is dropped and the source compiled") {
  Stub stub;
  TemporaryFolder folder;
  opencl::OpenOptions options = options_for(stub);
  options.cache_folder = folder.path();
  auto device = opencl::open(0, options);
  REQUIRE(device.ok());
  compile_on(**device);
  const long before = stub.live_objects();
  stub.fail("clCreateProgramWithBinary", CL_INVALID_BINARY, 0);
  compile_on(**device);
  CHECK(stub.binaries_given() == 1);
  CHECK(opencl::cache_counters(**device).rejected == 1);
  CHECK(opencl::cache_counters(**device).stored == 2);
  CHECK(stub.live_objects() == before);
}

TEST_CASE("a cache that cannot be written costs nothing but itself") {
  Stub stub;
  opencl::OpenOptions options = options_for(stub);
  options.cache_folder = "/nowhere/at/all";
  auto device = opencl::open(0, options);
  REQUIRE(device.ok());
  compile_on(**device);
  CHECK(opencl::cache_counters(**device).store_errors == 1);
  TemporaryFolder folder;
  options.cache_folder = folder.path();
  device = opencl::open(0, options);
  REQUIRE(device.ok());
  stub.fail("clGetProgramInfo", CL_INVALID_PROGRAM, 0);  // a driver that keeps its binaries
  compile_on(**device);
  CHECK(opencl::cache_counters(**device).store_errors == 1);
  CHECK(folder.files().empty());
}
