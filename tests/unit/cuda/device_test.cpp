// A CUDA device, its memory and adopted handles on a driver whose every answer is scripted.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>

#include <idletune/cuda.hpp>

#include "tests/unit/cuda/stub.hpp"
#include "tests/unit/cuda/stub_device.hpp"
#include "tests/unit/required.hpp"

using namespace std::chrono_literals;
using namespace idletune;
using namespace idletune::test;

TEST_CASE("a CUDA device describes itself with all versions that matter") {
  CudaStub stub;
  auto devices = required(cuda::list(stub.options()));
  REQUIRE(devices.size() == 1);
  const idletune::DeviceInfo& info = devices[0];
  CHECK(info.backend == "cuda");
  CHECK(info.platform == "CUDA");
  CHECK(info.name == "Stub GPU");
  CHECK(info.vendor == "NVIDIA");
  CHECK(info.driver.rfind("CUDA 12.2", 0) == 0);
  CHECK(info.driver.find("NVRTC 12.2, sm_87") != std::string::npos);
  CHECK(info.compute_units == 8);
  CHECK(info.local_memory_bytes == 49152);
  CHECK(info.global_memory_bytes == 1u << 30);
  CHECK(info.max_work_group_size == 1024);
  CHECK(info.max_work_item_sizes[0] == 1024);
  CHECK(info.max_work_item_sizes[1] == 512);
  CHECK(info.max_work_item_sizes[2] == 64);
  CHECK(info.has_compiler);
  CHECK(!info.is_cpu);
  CHECK(info.unified_memory);
}

TEST_CASE("among equal CUDA devices open_matching takes the one of the wanted index") {
  CudaStub stub;
  stub.set(CUDA_STUB_DEVICES, 3);
  auto devices = required(cuda::list(stub.options()));
  REQUIRE(devices.size() == 3);
  for (const idletune::DeviceInfo& wanted : devices) {
    auto device = required(cuda::open_matching(wanted, stub.options()));
    CHECK(device->info().index == wanted.index);
  }
  idletune::DeviceInfo gone = devices.back();
  stub.set(CUDA_STUB_DEVICES, 2);
  auto device = required(cuda::open_matching(gone, stub.options()));
  CHECK(device->info().index == 0);
  gone.name = "Another GPU";
  CHECK(cuda::open_matching(gone, stub.options()).code() == StatusCode::not_found);
  CHECK(cuda::open(2, stub.options()).code() == StatusCode::not_found);
}

TEST_CASE("the tuner's stream has the lowest priority, and the info says whether that is lower") {
  CudaStub stub;
  auto driver = driver_of(stub);
  {
    auto device = open_stub(stub);
    auto program = compile_on(*device);
    ScaleProblem problem(*device);
    CHECK(device->info().low_priority_queue);
    REQUIRE(program->enqueue(0, groups_of(8, 4), problem.arguments, {}, nullptr).ok());
    CHECK(stub.launch().priority == -5);
    CHECK(stub.launch().stream == cuda::handles(*device).stream);
    REQUIRE(device->run(*program, groups_of(8, 4), problem.arguments, 1s).ok());
    CHECK(stub.launch().priority == 0);
    CHECK(stub.launch().stream != cuda::handles(*device).stream);
  }
  // The lowest priority is also the usual one: beside a stream of that, ours is an equal.
  void* context = stub.create_context(0);
  {
    auto adopted = required(cuda::adopt(context, nullptr, stub.options()));
    CHECK(!adopted->info().low_priority_queue);
  }
  stub.destroy_context(context);
  stub.set(CUDA_STUB_PRIORITIES, 0);
  CHECK(!open_stub(stub)->info().low_priority_queue);
  stub.set(CUDA_STUB_PRIORITIES, 1);
  stub.fail("cuStreamCreateWithPriority", 801, 0);
  auto device = open_stub(stub);
  CHECK(!device->info().low_priority_queue);
  CHECK(
      device->run(*compile_on(*device), groups_of(8, 4), ScaleProblem(*device).arguments, 1s).ok());
}

TEST_CASE("each failing call while opening CUDA is an error with its name, and leaks nothing") {
  CudaStub stub;
  stub.fail("cuStreamCreateWithPriority", 801, 0);
  struct Failure {
    const char* call;
    unsigned after;
  };
  for (const Failure& failure :
       {Failure{"cuDeviceGetCount", 0}, Failure{"cuDeviceGet", 0},
        Failure{"cuDevicePrimaryCtxRetain", 0}, Failure{"cuCtxPushCurrent", 0},
        Failure{"cuStreamCreate", 0}, Failure{"cuStreamCreate", 1}, Failure{"cuEventCreate", 0},
        Failure{"cuEventCreate", 1}}) {
    CAPTURE(std::string(failure.call));
    stub.fail(failure.call, cuda::kOutOfMemory, failure.after);
    auto device = cuda::open(0, stub.options());
    REQUIRE(device.code() == StatusCode::device_error);
    CHECK(device.status().message() ==
          std::string(failure.call) + ": CUDA_ERROR_OUT_OF_MEMORY (2)");
    CHECK(stub.new_objects() == 0);
    stub.fail(failure.call, cuda::kSuccess, 0);
  }
  CHECK(open_stub(stub) != nullptr);
}

TEST_CASE("copies stay inside their buffer, windows shift it, and memory runs out cleanly") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto buffer = required(device->allocate(1024));
  const std::uint8_t written[] = {1, 2, 3, 4};
  std::uint8_t read[4] = {};
  CHECK(device->write(*buffer, 1020, written).ok());
  CHECK(device->read(*buffer, 1020, read).ok());
  CHECK(std::memcmp(read, written, 4) == 0);
  CHECK(device->write(*buffer, 1021, written).code() == StatusCode::invalid_argument);
  CHECK(device->read(*buffer, SIZE_MAX, read).code() == StatusCode::invalid_argument);
  CHECK(device->write(*buffer, 1024, Bytes()).ok());
  auto window = required(device->window(*buffer, 256, 512));
  CHECK(window->size_bytes() == 512);
  std::uintptr_t whole = 0, part = 0;
  std::memcpy(&whole, buffer->argument().data(), sizeof whole);
  std::memcpy(&part, window->argument().data(), sizeof part);
  CHECK(part == whole + 256);
  CHECK(window->argument().is_buffer());
  CHECK(whole % device->window_alignment_bytes() == 0);
  CHECK(device->window(*buffer, 1000, 25).code() == StatusCode::invalid_argument);
  window.reset();
  CHECK(device->read(*buffer, 0, read).ok());  // the window did not free it
  CHECK(device->allocate(0).code() == StatusCode::invalid_argument);
  CHECK(device->allocate((std::size_t{1} << 30) + 1).code() == StatusCode::out_of_memory);
  stub.fail("cuMemAlloc", cuda::kOutOfMemory, 0);
  auto refused = device->allocate(16);
  CHECK(refused.code() == StatusCode::out_of_memory);
  CHECK(refused.status().message() ==
        "allocate: 16 bytes: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)");
  stub.fail("cuMemcpyHtoDAsync", cuda::kInvalidValue, 0);
  CHECK(device->write(*buffer, 0, written).code() == StatusCode::device_error);
  buffer.reset();
  device.reset();
  CHECK(stub.new_objects() == 0);
}

TEST_CASE(
    "adopted handles are used, stay the application's, and no other context is left current") {
  CudaStub stub;
  auto driver = driver_of(stub);
  void* context = stub.create_context(0);
  void* other = stub.create_context(0);
  REQUIRE(driver->CtxPushCurrent(static_cast<cuda::ContextHandle>(context)) == cuda::kSuccess);
  cuda::StreamHandle stream = nullptr;
  REQUIRE(driver->StreamCreateWithPriority(&stream, 0, -5) == cuda::kSuccess);
  REQUIRE(driver->CtxPushCurrent(static_cast<cuda::ContextHandle>(other)) == cuda::kSuccess);
  const long before = stub.live_objects();
  {
    auto adopted = required(cuda::adopt(context, stream, stub.options()));
    Device& device = *adopted;
    CHECK(cuda::handles(device).context == context);
    CHECK(cuda::handles(device).stream == stream);
    CHECK(device.info().low_priority_queue);
    auto program = compile_on(device);
    ScaleProblem problem(device);
    REQUIRE(program->enqueue(0, groups_of(8, 4), problem.arguments, {}, nullptr).ok());
    CHECK(stub.launch().stream == stream);
    CHECK(stub.launch().context == context);
    CHECK(stub.launch().capture_mode == 0);
    REQUIRE(device.run(*program, groups_of(8, 4), problem.arguments, 1s).ok());
    CHECK(stub.launch().context == context);
    CHECK(stub.launch().capture_mode == static_cast<int>(cuda::CaptureMode::relaxed));
    CHECK(stub.capture_mode() == 0);
    CHECK(current_context(*driver) == other);
    CHECK(cuda::adopt(other, stream, stub.options()).code() == StatusCode::invalid_argument);
  }
  CHECK(current_context(*driver) == other);
  CHECK(stub.live_objects() == before);
  cuda::ContextHandle popped = nullptr;
  REQUIRE(driver->CtxPopCurrent(&popped) == cuda::kSuccess);
  CHECK(driver->StreamDestroy(stream) == cuda::kSuccess);
  REQUIRE(driver->CtxPopCurrent(&popped) == cuda::kSuccess);
  CHECK(popped == context);
  CHECK(current_context(*driver) == nullptr);
  stub.destroy_context(other);
  stub.destroy_context(context);
}

TEST_CASE("without a context adopt takes the stream's, or the one that is current") {
  CudaStub stub;
  auto driver = driver_of(stub);
  CHECK(cuda::adopt(nullptr, nullptr, stub.options()).code() == StatusCode::invalid_argument);
  void* context = stub.create_context(0);
  REQUIRE(driver->CtxPushCurrent(static_cast<cuda::ContextHandle>(context)) == cuda::kSuccess);
  cuda::StreamHandle stream = nullptr;
  REQUIRE(driver->StreamCreate(&stream, 0) == cuda::kSuccess);
  {
    auto by_default = required(cuda::adopt(nullptr, nullptr, stub.options()));
    CHECK(cuda::handles(*by_default).context == context);
    CHECK(cuda::handles(*by_default).stream == nullptr);
    auto per_thread = reinterpret_cast<void*>(std::uintptr_t{2});  // CU_STREAM_PER_THREAD
    // It is another stream in each thread: no order could be promised.
    CHECK(cuda::adopt(nullptr, per_thread, stub.options()).code() == StatusCode::invalid_argument);
  }
  cuda::ContextHandle popped = nullptr;
  REQUIRE(driver->CtxPopCurrent(&popped) == cuda::kSuccess);
  {
    auto by_stream = required(cuda::adopt(nullptr, stream, stub.options()));
    CHECK(cuda::handles(*by_stream).context == context);
  }
  CHECK(current_context(*driver) == nullptr);
  REQUIRE(driver->CtxPushCurrent(static_cast<cuda::ContextHandle>(context)) == cuda::kSuccess);
  CHECK(driver->StreamDestroy(stream) == cuda::kSuccess);
  REQUIRE(driver->CtxPopCurrent(&popped) == cuda::kSuccess);
  stub.destroy_context(context);
}
