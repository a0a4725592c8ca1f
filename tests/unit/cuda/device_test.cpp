// The CUDA back end on a driver whose every answer is scripted.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "platform/cuda/driver.hpp"
#include "platform/cuda/profile_tickets.hpp"
#include "tests/unit/cuda/stub.hpp"
#include "tests/unit/os/temporary_folder.hpp"

using namespace std::chrono_literals;
using idletune::Argument;
using idletune::Bytes;
using idletune::CompileRequest;
using idletune::Device;
using idletune::LaunchOptions;
using idletune::MutableBytes;
using idletune::Program;
using idletune::Range;
using idletune::Status;
using idletune::StatusCode;
using idletune::test::content_of;
using idletune::test::CudaStub;
using idletune::test::overwrite;
using idletune::test::TemporaryFolder;
namespace cuda = idletune::cuda;

namespace {

constexpr const char* kScale =
    "extern \"C\" __global__ void scale(float* out, const float* in, float factor, int n) {}";

std::unique_ptr<Device> open_stub(const CudaStub& stub) {
  auto device = cuda::open(0, stub.options());
  REQUIRE_MESSAGE(device.ok(), device.status().to_string());
  return std::move(*device);
}

std::unique_ptr<Device> open_with_cache(const CudaStub& stub, const TemporaryFolder& folder) {
  cuda::OpenOptions options = stub.options();
  options.cache_folder = folder.path() + "/programs";
  auto device = cuda::open(0, options);
  REQUIRE_MESSAGE(device.ok(), device.status().to_string());
  return std::move(*device);
}

CompileRequest request_for(const char* options = "", std::uint32_t lanes = 1) {
  return {kScale, "scale", options, lanes};
}

std::unique_ptr<Program> compile_on(Device& device, const char* options = "",
                                    std::uint32_t lanes = 1) {
  auto program = device.compile(request_for(options, lanes));
  REQUIRE_MESSAGE(program.ok(), program.status().to_string());
  return std::move(*program);
}

Range groups_of(std::size_t global, std::size_t local) {
  Range range;
  range.global = {global, 1, 1};
  range.local = {local, 1, 1};
  return range;
}

// Two buffers and the arguments of `scale` for them.
struct Problem {
  explicit Problem(Device& device, int count = 8) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i);
    for (std::unique_ptr<idletune::Buffer>* buffer : {&out, &in}) {
      auto made = device.allocate(values.size() * sizeof(float));
      REQUIRE_MESSAGE(made.ok(), made.status().to_string());
      *buffer = std::move(*made);
    }
    REQUIRE(device
                .write(*in, 0,
                       {reinterpret_cast<const std::uint8_t*>(values.data()),
                        values.size() * sizeof(float)})
                .ok());
    arguments = {out->argument(), in->argument(), Argument(2.0f), Argument(count)};
  }
  float output(Device& device, std::size_t i) const {
    float value = -1;
    CHECK(
        device.read(*out, i * sizeof value, {reinterpret_cast<std::uint8_t*>(&value), sizeof value})
            .ok());
    return value;
  }
  std::unique_ptr<idletune::Buffer> out, in;
  std::vector<Argument> arguments;
};

std::shared_ptr<const cuda::Driver> driver_of(const CudaStub& stub) {
  auto driver = cuda::load_driver(stub.path);
  REQUIRE(driver.ok());
  return *driver;
}

void* current_context(const cuda::Driver& driver) {
  cuda::ContextHandle context = nullptr;
  CHECK(driver.CtxGetCurrent(&context) == cuda::kSuccess);
  return context;
}

}  // namespace

TEST_CASE("a CUDA device describes itself with all versions that matter") {
  CudaStub stub;
  auto devices = cuda::list(stub.options());
  REQUIRE(devices.ok());
  REQUIRE(devices->size() == 1);
  const idletune::DeviceInfo& info = (*devices)[0];
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
  auto devices = cuda::list(stub.options());
  REQUIRE(devices.ok());
  REQUIRE(devices->size() == 3);
  for (const idletune::DeviceInfo& wanted : *devices) {
    auto device = cuda::open_matching(wanted, stub.options());
    REQUIRE(device.ok());
    CHECK((*device)->info().index == wanted.index);
  }
  idletune::DeviceInfo gone = devices->back();
  stub.set(CUDA_STUB_DEVICES, 2);
  auto device = cuda::open_matching(gone, stub.options());
  REQUIRE(device.ok());
  CHECK((*device)->info().index == 0);
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
    Problem problem(*device);
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
    auto adopted = cuda::adopt(context, nullptr, stub.options());
    REQUIRE(adopted.ok());
    CHECK(!(*adopted)->info().low_priority_queue);
  }
  stub.destroy_context(context);
  stub.set(CUDA_STUB_PRIORITIES, 0);
  CHECK(!open_stub(stub)->info().low_priority_queue);
  stub.set(CUDA_STUB_PRIORITIES, 1);
  stub.fail("cuStreamCreateWithPriority", 801, 0);
  auto device = open_stub(stub);
  CHECK(!device->info().low_priority_queue);
  CHECK(device->run(*compile_on(*device), groups_of(8, 4), Problem(*device).arguments, 1s).ok());
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

TEST_CASE("a CUDA launch is one call with grid, block and exactly its arguments") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device, "", 2);
  Problem problem(*device);
  Range range;
  range.global = {64, 32, 6};
  range.local = {8, 4, 3};
  range.dimensions = 3;
  stub.reset();
  REQUIRE(program->enqueue(1, range, problem.arguments, {}, nullptr).ok());
  CHECK(stub.calls("cuLaunchKernel") == 1);
  CHECK(stub.calls(nullptr) == 4);  // and: which context is current, in with ours, out again
  const CudaStubLaunch launch = stub.launch();
  CHECK(launch.context == cuda::handles(*device).context);
  CHECK(launch.shared_bytes == 0);
  const unsigned grid[] = {8, 8, 2};
  const unsigned block[] = {8, 4, 3};
  for (int i = 0; i < 3; ++i) {
    CHECK(launch.grid[i] == grid[i]);
    CHECK(launch.block[i] == block[i]);
  }
  REQUIRE(launch.argument_count == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(launch.argument_size[i] == problem.arguments[i].size());
    CHECK(std::memcmp(launch.argument[i], problem.arguments[i].data(), launch.argument_size[i]) ==
          0);
  }
  CHECK(problem.output(*device, 3) == 6.0f);
}

TEST_CASE("sizes that do not divide, lanes and arguments that do not fit are refused unlaunched") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  Problem problem(*device);
  auto enqueue = [&](const Range& range) {
    return program->enqueue(0, range, problem.arguments, {}, nullptr);
  };
  Status odd = enqueue(groups_of(10, 4));
  CHECK(odd.code() == StatusCode::invalid_argument);
  CHECK(
      odd.message() ==
      "global size 10 in groups of 4: expected 1 to 3 dimensions, each a multiple of its group's");
  CHECK(enqueue(groups_of(0, 4)).code() == StatusCode::invalid_argument);
  CHECK(enqueue(groups_of(4, 0)).code() == StatusCode::invalid_argument);
  Range flat = groups_of(4, 4);
  flat.dimensions = 0;
  CHECK(enqueue(flat).code() == StatusCode::invalid_argument);
  if (sizeof(std::size_t) > 4) {
    CHECK(enqueue(groups_of(SIZE_MAX, 1)).code() == StatusCode::invalid_argument);
  }
  CHECK(program->enqueue(1, groups_of(4, 4), problem.arguments, {}, nullptr).message() ==
        "lane 1: expected one below 1");
  const Argument few[] = {problem.arguments[0], problem.arguments[1], problem.arguments[2]};
  CHECK(program->enqueue(0, groups_of(4, 4), few, {}, nullptr).message() ==
        "kernel launched with 3 arguments, expected 4");
  problem.arguments[3] = Argument(std::int64_t{8});
  CHECK(enqueue(groups_of(4, 4)).message() == "argument 3: 8 bytes, expected 4");
  CHECK(stub.calls("cuLaunchKernel") == 0);
}

TEST_CASE("where the driver cannot tell the parameters, missing arguments are zeros") {
  CudaStub stub;
  stub.set(CUDA_STUB_PARAMETER_INFO, 0);
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  Problem problem(*device);
  const Argument few[] = {problem.arguments[0], problem.arguments[1], problem.arguments[2]};
  REQUIRE(program->enqueue(0, groups_of(4, 4), few, {}, nullptr).ok());
  const CudaStubLaunch launch = stub.launch();
  const int nothing = 0;
  CHECK(std::memcmp(launch.argument[3], &nothing, sizeof nothing) == 0);
  CHECK(std::memcmp(launch.argument[2], few[2].data(), 4) == 0);
  const std::vector<Argument> many(65, Argument(1));
  CHECK(program->enqueue(0, groups_of(4, 4), many, {}, nullptr).code() ==
        StatusCode::invalid_argument);
}

TEST_CASE("a CUDA launch goes to the stream it names, with its events") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto driver = driver_of(stub);
  auto program = compile_on(*device);
  Problem problem(*device);
  const auto context = static_cast<cuda::ContextHandle>(cuda::handles(*device).context);
  REQUIRE(driver->CtxPushCurrent(context) == cuda::kSuccess);
  cuda::StreamHandle stream = nullptr;
  cuda::EventHandle first = nullptr;
  cuda::EventHandle event = nullptr;
  REQUIRE(driver->StreamCreate(&stream, 0) == cuda::kSuccess);
  REQUIRE(driver->EventCreate(&first, 0) == cuda::kSuccess);
  const void* waits[] = {first, first};
  LaunchOptions options;
  options.queue = stream;
  options.wait_list = waits;
  options.wait_count = 2;
  options.event = &event;
  void* ticket = nullptr;
  REQUIRE(program->enqueue(0, groups_of(8, 4), problem.arguments, options, &ticket).ok());
  CHECK(stub.launch().stream == stream);
  CHECK(stub.calls("cuStreamWaitEvent") == 2);
  REQUIRE(event != nullptr);
  CHECK(driver->EventQuery(event) == cuda::kSuccess);
  REQUIRE(ticket != nullptr);
  CHECK(*device->elapsed(ticket) == 1000ns);

  // Nothing is handed out where something fails.
  cuda::EventHandle none = nullptr;
  options.event = &none;
  for (const char* call : {"cuStreamWaitEvent", "cuEventCreate", "cuLaunchKernel"}) {
    CAPTURE(call);
    const long before = stub.live_objects();
    stub.fail(call, cuda::kInvalidHandle, 0);
    const Status status = program->enqueue(0, groups_of(8, 4), problem.arguments, options, &ticket);
    CHECK(status.code() == StatusCode::device_error);
    CHECK(status.message().find(call) != std::string::npos);
    CHECK(ticket == nullptr);
    CHECK(none == nullptr);
    CHECK(stub.live_objects() == before);
    stub.fail(call, cuda::kSuccess, 0);
  }
  CHECK(driver->EventDestroy(event) == cuda::kSuccess);
  CHECK(driver->EventDestroy(first) == cuda::kSuccess);
  CHECK(driver->StreamDestroy(stream) == cuda::kSuccess);
  driver->CtxPopCurrent(const_cast<cuda::ContextHandle*>(&context));
}

TEST_CASE("a ticket waits for its launch, is read once, and its events are used again") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device, "-DRUN_US=7");
  Problem problem(*device);
  auto launched = [&] {
    void* ticket = nullptr;
    REQUIRE(program->enqueue(0, groups_of(8, 4), problem.arguments, {}, &ticket).ok());
    REQUIRE(ticket != nullptr);
    return ticket;
  };
  stub.set(CUDA_STUB_EVENT_POLLS, 2);
  void* ticket = launched();
  CHECK(device->elapsed(ticket).code() == StatusCode::busy);
  CHECK(device->elapsed(ticket).code() == StatusCode::busy);
  auto time = device->elapsed(ticket);
  REQUIRE_MESSAGE(time.ok(), time.status().to_string());
  CHECK(time->count() == doctest::Approx(7000).epsilon(0.001));
  stub.set(CUDA_STUB_EVENT_POLLS, 0);
  const long before = stub.live_objects();
  CHECK(launched() == ticket);
  device->discard(ticket);
  CHECK(launched() == ticket);
  CHECK(stub.live_objects() == before);
  stub.fail("cuEventElapsedTime", cuda::kInvalidHandle, 0);
  CHECK(device->elapsed(ticket).code() == StatusCode::device_error);
  stub.fail("cuEventElapsedTime", cuda::kSuccess, 0);
  CHECK(device->elapsed(nullptr).code() == StatusCode::unsupported);
  device->discard(nullptr);
  auto glitch = device->compile(request_for("-DRUN_US=0"));
  REQUIRE((*glitch)->enqueue(0, groups_of(8, 4), problem.arguments, {}, &ticket).ok());
  CHECK(device->elapsed(ticket).code() == StatusCode::device_error);
}

TEST_CASE("a launch that cannot be timed is launched all the same, without a ticket") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  Problem problem(*device);
  auto ticket_of_launch = [&] {
    int something = 0;
    void* ticket = &something;
    const unsigned long launches = stub.calls("cuLaunchKernel");
    CHECK(program->enqueue(0, groups_of(8, 4), problem.arguments, {}, &ticket).ok());
    CHECK(stub.calls("cuLaunchKernel") == launches + 1);
    return ticket;
  };
  stub.set(CUDA_STUB_CAPTURING, 1);
  CHECK(ticket_of_launch() == nullptr);
  stub.set(CUDA_STUB_CAPTURING, 0);
  stub.fail("cuEventCreate", cuda::kOutOfMemory, 0);
  CHECK(ticket_of_launch() == nullptr);
  stub.fail("cuEventCreate", cuda::kSuccess, 0);
  for (unsigned after : {0u, 1u}) {
    stub.fail("cuEventRecord", cuda::kInvalidHandle, after);
    CHECK(ticket_of_launch() == nullptr);
    stub.fail("cuEventRecord", cuda::kSuccess, 0);
  }
  std::vector<void*> tickets;
  for (std::uint32_t i = 0; i < cuda::ProfileTickets::kCount; ++i) {
    tickets.push_back(ticket_of_launch());
    REQUIRE(tickets.back() != nullptr);
  }
  CHECK(ticket_of_launch() == nullptr);  // all are out
  for (void* ticket : tickets) device->discard(ticket);
  CHECK(ticket_of_launch() != nullptr);
}

TEST_CASE("a run gives the time between its events and computes what it should") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device, "-DRUN_US=123");
  Problem problem(*device);
  stub.set(CUDA_STUB_EVENT_POLLS, 5);
  auto times = device->run(*program, groups_of(8, 4), problem.arguments, 10s);
  REQUIRE_MESSAGE(times.ok(), times.status().to_string());
  CHECK(times->device.count() == doctest::Approx(123000).epsilon(0.001));
  CHECK(times->wall > 0ns);
  CHECK(stub.calls("cuEventQuery") == 6);
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(problem.output(*device, i) == 2.0f * static_cast<float>(i));
}

TEST_CASE("no time, a backward time and failing calls of a CUDA run are device errors") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  Problem problem(*device);
  auto run = [&] { return device->run(*program, groups_of(8, 4), problem.arguments, 10s); };
  for (long run_ns : {0L, -5000L}) {
    stub.set(CUDA_STUB_RUN_NS, run_ns);
    CHECK(run().code() == StatusCode::device_error);
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

TEST_CASE(
    "after an error that ends the context every call says so, and nothing reaches the driver") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto good = compile_on(*device);
  auto bad = compile_on(*device, "-DBEHAVIOUR=1");
  Problem problem(*device);
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
  problem = Problem(*open_stub(CudaStub()));  // what the lost device still holds is let go unfreed
  good.reset();
  bad.reset();
  device.reset();
}

TEST_CASE("an error of the application's own launches ends tuning on its device as well") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  Problem problem(*device);
  void* ticket = nullptr;
  REQUIRE(program->enqueue(0, groups_of(8, 4), problem.arguments, {}, &ticket).ok());
  CHECK(device->usable().ok());
  stub.set(CUDA_STUB_RUN_STATUS, cuda::kLaunchFailed);
  CHECK(device->elapsed(ticket).code() == StatusCode::device_error);
  CHECK(device->usable().message().find("CUDA_ERROR_LAUNCH_FAILED (719)") != std::string::npos);
}

TEST_CASE("after a CUDA timeout tuning is refused, launches go on and nothing is released") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  auto endless = compile_on(*device, "-DBEHAVIOUR=3");
  Problem problem(*device);
  const auto start = std::chrono::steady_clock::now();
  auto times = device->run(*endless, groups_of(8, 4), problem.arguments, 20ms);
  REQUIRE(times.code() == StatusCode::timeout);
  CHECK(std::chrono::steady_clock::now() - start >= 20ms);
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

TEST_CASE("copies stay inside their buffer, windows shift it, and memory runs out cleanly") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto buffer = device->allocate(1024);
  REQUIRE(buffer.ok());
  const std::uint8_t written[] = {1, 2, 3, 4};
  std::uint8_t read[4] = {};
  CHECK(device->write(**buffer, 1020, written).ok());
  CHECK(device->read(**buffer, 1020, read).ok());
  CHECK(std::memcmp(read, written, 4) == 0);
  CHECK(device->write(**buffer, 1021, written).code() == StatusCode::invalid_argument);
  CHECK(device->read(**buffer, SIZE_MAX, read).code() == StatusCode::invalid_argument);
  CHECK(device->write(**buffer, 1024, Bytes()).ok());
  auto window = device->window(**buffer, 256, 512);
  REQUIRE(window.ok());
  CHECK((*window)->size_bytes() == 512);
  std::uintptr_t whole = 0, part = 0;
  std::memcpy(&whole, (*buffer)->argument().data(), sizeof whole);
  std::memcpy(&part, (*window)->argument().data(), sizeof part);
  CHECK(part == whole + 256);
  CHECK((*window)->argument().is_buffer());
  CHECK(whole % device->window_alignment_bytes() == 0);
  CHECK(device->window(**buffer, 1000, 25).code() == StatusCode::invalid_argument);
  window->reset();
  CHECK(device->read(**buffer, 0, read).ok());  // the window did not free it
  CHECK(device->allocate(0).code() == StatusCode::invalid_argument);
  CHECK(device->allocate((std::size_t{1} << 30) + 1).code() == StatusCode::out_of_memory);
  stub.fail("cuMemAlloc", cuda::kOutOfMemory, 0);
  auto refused = device->allocate(16);
  CHECK(refused.code() == StatusCode::out_of_memory);
  CHECK(refused.status().message() ==
        "allocate: 16 bytes: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)");
  stub.fail("cuMemcpyHtoDAsync", cuda::kInvalidValue, 0);
  CHECK(device->write(**buffer, 0, written).code() == StatusCode::device_error);
  buffer->reset();
  device.reset();
  CHECK(stub.new_objects() == 0);
}

TEST_CASE("programs say their limits, and a kernel that is not there is a compile error") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device, "-DSHARED_BYTES=4096", 0);
  CHECK(program->lanes() == 4);
  CHECK(program->max_work_group_size() == 768);
  CHECK(program->local_memory_bytes() == 4096);
  CompileRequest request = request_for();
  request.entry = "absent";
  auto absent = device->compile(request);
  REQUIRE(absent.code() == StatusCode::compile_error);
  CHECK(absent.status().message() ==
        "kernel 'absent': cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500)\n"
        "expected it as extern \"C\" __global__");
  request.entry = "";
  CHECK(device->compile(request).code() == StatusCode::invalid_argument);
  CHECK(device->compile(request_for("", 257)).code() == StatusCode::invalid_argument);
  CompileRequest broken = request_for();
  broken.source = "#error";
  CHECK(device->compile(broken).code() == StatusCode::compile_error);
  program.reset();
  device.reset();
  CHECK(stub.new_objects() == 0);
  CHECK(stub.live_programs() == 0);
}

TEST_CASE("an image that the driver refuses is an error with the driver's log") {
  CudaStub stub;
  auto device = open_stub(stub);
  stub.set(CUDA_STUB_ARCHITECTURE, 90);  // another device than NVRTC was told about
  auto refused = device->compile(request_for());
  REQUIRE(refused.code() == StatusCode::compile_error);
  CHECK(refused.status().message() ==
        "kernel 'scale': cuModuleLoadDataEx: CUDA_ERROR_NO_BINARY_FOR_GPU (209)\n"
        "not made for this device");
}

TEST_CASE("an architecture newer than NVRTC gets PTX, which the driver compiles") {
  CudaStub stub;
  stub.set(CUDA_STUB_ARCHITECTURE, 121);
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  CHECK(std::string(stub.last_image()).rfind("stub ptx compute_90\n", 0) == 0);
  Problem problem(*device);
  CHECK(device->run(*program, groups_of(8, 4), problem.arguments, 1s).ok());
}

TEST_CASE("a compiled CUDA program is found again, by options, source and architecture") {
  CudaStub stub;
  TemporaryFolder folder;
  compile_on(*open_with_cache(stub, folder), "-DA=1");
  CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 1);
  {
    auto device = open_with_cache(stub, folder);
    auto program = compile_on(*device, "-DA=1");
    Problem problem(*device);
    CHECK(device->run(*program, groups_of(8, 4), problem.arguments, 1s).ok());
    CHECK(cuda::cache_counters(*device).hits == 1);
    CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 1);
    compile_on(*device, "-DA=2");
    CHECK(cuda::cache_counters(*device).misses == 1);
    CHECK(cuda::cache_counters(*device).stored == 1);
  }
  CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 2);
  stub.set(CUDA_STUB_ARCHITECTURE, 72);
  compile_on(*open_with_cache(stub, folder), "-DA=1");
  CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 3);
}

TEST_CASE("another NVRTC compiles anew, another driver does not") {
  CudaStub stub;
  TemporaryFolder folder;
  compile_on(*open_with_cache(stub, folder));
  stub.set(CUDA_STUB_DRIVER_VERSION, 12040);
  compile_on(*open_with_cache(stub, folder));
  CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 1);
  stub.set_nvrtc(NVRTC_STUB_VERSION, 12040);
  compile_on(*open_with_cache(stub, folder));
  CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 2);
  compile_on(*open_with_cache(stub, folder));
  CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 2);
}

TEST_CASE("damaged and refused cached images are dropped and compiled again") {
  CudaStub stub;
  TemporaryFolder folder;
  auto only_file = [&] {
    const auto entries = std::filesystem::directory_iterator(folder.path() + "/programs");
    return entries->path().string();
  };
  compile_on(*open_with_cache(stub, folder));
  std::string file = content_of(only_file());
  file[70] = static_cast<char>(file[70] ^ 1);
  overwrite(only_file(), file);
  auto device = open_with_cache(stub, folder);
  compile_on(*device);
  CHECK(cuda::cache_counters(*device).rejected == 1);
  CHECK(cuda::cache_counters(*device).stored == 1);
  // Intact, but the driver does not want it this once: NVRTC's fresh image is taken.
  stub.fail("cuModuleGetFunction", cuda::kNotFound, 0);
  CHECK(device->compile(request_for()).code() == StatusCode::compile_error);
  stub.fail("cuModuleGetFunction", cuda::kSuccess, 0);
  CHECK(cuda::cache_counters(*device).rejected == 2);
  compile_on(*device);
  // A lack of memory says nothing about the image.
  stub.fail("cuModuleLoadDataEx", cuda::kOutOfMemory, 0);
  CHECK(device->compile(request_for()).code() == StatusCode::out_of_memory);
  CHECK(cuda::cache_counters(*device).rejected == 2);
}

TEST_CASE("without NVRTC cached programs run, and others are refused with the reason") {
  CudaStub stub;
  TemporaryFolder folder;
  compile_on(*open_with_cache(stub, folder), "-DA=1");
  cuda::OpenOptions options = stub.options();
  options.cache_folder = folder.path() + "/programs";
  options.nvrtc_library = "/nowhere/libnvrtc.so";
  auto device = cuda::open(0, options);
  REQUIRE_MESSAGE(device.ok(), device.status().to_string());
  CHECK(!(*device)->info().has_compiler);
  CHECK((*device)->info().driver.find("no NVRTC") != std::string::npos);
  auto program = compile_on(**device, "-DA=1");
  Problem problem(**device);
  CHECK((*device)->run(*program, groups_of(8, 4), problem.arguments, 1s).ok());
  auto refused = (*device)->compile(request_for("-DA=2"));
  REQUIRE(refused.code() == StatusCode::unsupported);
  CHECK(refused.status().message().find(
            "kernel 'scale' is not in the program cache and cannot be compiled: NVRTC "
            "'/nowhere/libnvrtc.so'") == 0);
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
    auto adopted = cuda::adopt(context, stream, stub.options());
    REQUIRE_MESSAGE(adopted.ok(), adopted.status().to_string());
    Device& device = **adopted;
    CHECK(cuda::handles(device).context == context);
    CHECK(cuda::handles(device).stream == stream);
    CHECK(device.info().low_priority_queue);
    auto program = compile_on(device);
    Problem problem(device);
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
    auto by_default = cuda::adopt(nullptr, nullptr, stub.options());
    REQUIRE(by_default.ok());
    CHECK(cuda::handles(**by_default).context == context);
    CHECK(cuda::handles(**by_default).stream == nullptr);
    auto per_thread = reinterpret_cast<void*>(std::uintptr_t{2});  // CU_STREAM_PER_THREAD
    auto by_thread = cuda::adopt(nullptr, per_thread, stub.options());
    REQUIRE(by_thread.ok());
    CHECK(cuda::handles(**by_thread).stream == per_thread);
  }
  cuda::ContextHandle popped = nullptr;
  REQUIRE(driver->CtxPopCurrent(&popped) == cuda::kSuccess);
  {
    auto by_stream = cuda::adopt(nullptr, stream, stub.options());
    REQUIRE(by_stream.ok());
    CHECK(cuda::handles(**by_stream).context == context);
  }
  CHECK(current_context(*driver) == nullptr);
  REQUIRE(driver->CtxPushCurrent(static_cast<cuda::ContextHandle>(context)) == cuda::kSuccess);
  CHECK(driver->StreamDestroy(stream) == cuda::kSuccess);
  REQUIRE(driver->CtxPopCurrent(&popped) == cuda::kSuccess);
  stub.destroy_context(context);
}

TEST_CASE("threads launch one kernel at the same time while another reads the times") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device, "-DRUN_US=1", 4);
  Problem problem(*device);
  constexpr int kThreads = 3;
  constexpr int kLaunches = 400;
  std::atomic<int> refused{0}, untimed{0};
  std::atomic<void*> posted[kThreads] = {};
  std::atomic<int> running{kThreads};
  auto launch = [&](std::uint32_t lane) {
    for (int i = 0; i < kLaunches; ++i) {
      void* ticket = nullptr;
      if (!program->enqueue(lane, groups_of(8, 4), problem.arguments, {}, &ticket).ok()) ++refused;
      if (ticket == nullptr) ++untimed;
      device->discard(posted[lane].exchange(ticket));
    }
    --running;
  };
  // `scale` itself is not run: the threads would write one output.
  problem.arguments[3] = Argument(0);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i) threads.emplace_back(launch, i);
  int read = 0;
  while (running > 0 || read == 0) {
    for (auto& slot : posted) {
      void* ticket = slot.exchange(nullptr);
      if (ticket == nullptr) continue;
      auto time = device->elapsed(ticket);
      if (time.ok()) ++read;
    }
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& slot : posted) device->discard(slot.exchange(nullptr));
  CHECK(refused == 0);
  CHECK(untimed == 0);
  CHECK(read > 0);
  program.reset();
  problem.out.reset();
  problem.in.reset();
  device.reset();
  CHECK(stub.new_objects() == 0);
}
