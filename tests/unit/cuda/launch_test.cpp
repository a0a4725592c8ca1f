// The application's launches on a CUDA driver whose every answer is scripted.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <idletune/cuda.hpp>

#include "platform/cuda/profile_tickets.hpp"
#include "tests/unit/cuda/stub.hpp"
#include "tests/unit/cuda/stub_device.hpp"
#include "tests/unit/required.hpp"

using namespace std::chrono_literals;
using namespace idletune;
using namespace idletune::test;

TEST_CASE_FIXTURE(OpenedCudaStub,
                  "a CUDA launch is one call with grid, block and exactly its arguments") {
  auto program = compile_on(*device, "", 2);
  Range range;
  range.global = {64, 32, 6};
  range.local = {8, 4, 3};
  range.dimensions = 3;
  stub.reset();
  REQUIRE(program->enqueue(1, range, problem.arguments, {}, nullptr).ok());
  CHECK(stub.calls("cuLaunchKernel") == 1);
  // And: which context is current, in with ours, whether it is captured, out again.
  CHECK(stub.calls(nullptr) == 5);
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

TEST_CASE_FIXTURE(
    OpenedCudaStub,
    "sizes that do not divide, lanes and arguments that do not fit are refused unlaunched") {
  auto program = compile_on(*device);
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
  ScaleProblem problem(*device);
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

TEST_CASE_FIXTURE(OpenedCudaStub, "a CUDA launch goes to the stream it names, with its events") {
  auto driver = driver_of(stub);
  auto program = compile_on(*device);
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

TEST_CASE_FIXTURE(OpenedCudaStub,
                  "a ticket waits for its launch, is read once, and its events are used again") {
  auto program = compile_on(*device, "-DRUN_US=7");
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
  auto time = required(device->elapsed(ticket));
  CHECK(time.count() == doctest::Approx(7000).epsilon(0.001));
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

TEST_CASE_FIXTURE(OpenedCudaStub,
                  "a launch that cannot be timed is launched all the same, without a ticket") {
  auto program = compile_on(*device);
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

TEST_CASE_FIXTURE(OpenedCudaStub,
                  "threads launch one kernel at the same time while another reads the times") {
  auto program = compile_on(*device, "-DRUN_US=1", 4);
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

TEST_CASE("memory mapped together of several pieces is as large as all of them") {
  CudaStub stub;
  auto device = required(cuda::open(0, stub.options()));
  constexpr std::size_t kPiece = 64 << 10;
  auto buffer = required(device->allocate(5 * kPiece));
  stub.set(CUDA_STUB_SEGMENT_BYTES, kPiece);
  CHECK(device->check_buffer(buffer->argument(), kPiece).ok());
  CHECK(device->check_buffer(buffer->argument(), 5 * kPiece).ok());
  CHECK(device->check_buffer(buffer->argument(), 5 * kPiece + 1).message() ==
        "got 327680 bytes of device memory, expected at least 327681");
  // What is no such piece has a neighbour that is another's.
  stub.set(CUDA_STUB_SEGMENT_BYTES, 4096);
  CHECK(!device->check_buffer(buffer->argument(), kPiece).ok());
}

TEST_CASE("device memory that is known to be too small is refused") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto buffer = required(device->allocate(256));
  const Argument memory = buffer->argument();
  CHECK(device->check_buffer(memory, 256).ok());
  CHECK(device->check_buffer(memory, 257).message() ==
        "got 256 bytes of device memory, expected at least 257");
  CHECK(device->check_buffer(static_cast<float*>(nullptr), 4).code() ==
        StatusCode::invalid_argument);
  float on_the_host = 0;
  CHECK(device->check_buffer(&on_the_host, 4).ok());
}

TEST_CASE("CUDA streams are ordered by an event, one stream needs none") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  void* other = cuda::handles(*device).stream;
  auto second = required(cuda::open(0, stub.options()));
  void* not_ours = cuda::handles(*second).stream;
  stub.reset();
  CHECK(device->order(nullptr, other).ok());
  CHECK(stub.calls("cuStreamWaitEvent") == 0);
  CHECK(device->order(nullptr, not_ours).ok());
  CHECK(stub.calls("cuEventRecord") == 1);
  CHECK(stub.calls("cuStreamWaitEvent") == 1);
  CHECK(stub.calls("cuEventDestroy") == stub.calls("cuEventCreate"));
  stub.fail("cuStreamWaitEvent", cuda::kOutOfMemory, 0);
  CHECK_FALSE(device->order(not_ours, nullptr).ok());
  CHECK(stub.calls("cuEventDestroy") == stub.calls("cuEventCreate"));
}

TEST_CASE_FIXTURE(OpenedCudaStub,
                  "another kernel function of a CUDA module is found without loading again") {
  auto program = compile_on(*device, "", 3);
  stub.reset();
  auto same = required(program->another("scale"));
  CHECK(same->lanes() == 3);
  CHECK(stub.calls("cuModuleLoadDataEx") == 0);
  CHECK(program->another("missing").code() == StatusCode::compile_error);
  program.reset();
  CHECK(stub.calls("cuModuleUnload") == 0);
  CHECK(same->enqueue(2, groups_of(8, 4), problem.arguments, {}, nullptr).ok());
  same = nullptr;
  CHECK(stub.calls("cuModuleUnload") == 1);
}

TEST_CASE_FIXTURE(OpenedCudaStub,
                  "what was launched into a graph stays loaded as long as the device") {
  auto captured = compile_on(*device, "-DRUN_US=1");
  auto plain = compile_on(*device, "-DRUN_US=2");
  CHECK_FALSE(device->capturing(nullptr));
  stub.set(CUDA_STUB_CAPTURING, 1);
  CHECK(device->capturing(nullptr));
  REQUIRE(captured->enqueue(0, groups_of(8, 4), problem.arguments, {}, nullptr).ok());
  stub.set(CUDA_STUB_CAPTURING, 0);
  REQUIRE(plain->enqueue(0, groups_of(8, 4), problem.arguments, {}, nullptr).ok());
  captured.reset();
  plain.reset();
  CHECK(stub.calls("cuModuleUnload") == 1);
  CHECK(stub.broken_graphs() == 0);
  problem.out.reset();  // the application's own
  CHECK(stub.broken_graphs() == 1);
  problem.in.reset();
  device.reset();
  CHECK(stub.new_objects() == 0);
}

TEST_CASE_FIXTURE(
    OpenedCudaStub,
    "more groups than the device counts along an axis are refused before the driver sees them") {
  CHECK(device->info().max_groups[1] == 65535);
  auto program = compile_on(*device);
  Range range = groups_of(4, 4);
  range.dimensions = 2;
  range.global[1] = 65535;
  CHECK(program->enqueue(0, range, problem.arguments, {}, nullptr).ok());
  range.global[1] = 65536;
  stub.reset();
  const Status status = program->enqueue(0, range, problem.arguments, {}, nullptr);
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.message() == "65536 groups along axis 1 exceed the device's 65535");
  CHECK(stub.calls("cuLaunchKernel") == 0);
}

TEST_CASE("a CUDA stream is ordered after its end by what was marked on it") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto other = required(cuda::open(0, stub.options()));
  const auto driver = driver_of(stub);
  void* stream = cuda::handles(*other).stream;
  CHECK(*device->mark(nullptr, nullptr) == nullptr);
  CHECK(*device->mark(cuda::handles(*device).stream, nullptr) == nullptr);
  auto mark = device->mark(stream, nullptr);
  REQUIRE(mark.ok());
  REQUIRE(*mark != nullptr);
  CHECK(*device->mark(stream, *mark) == *mark);
  other = nullptr;  // its stream is gone, and may have another one's handle
  CHECK(device->order_after(*mark, stream, nullptr).ok());
  // In every thread another stream: also where the handles are the same.
  auto per_thread = reinterpret_cast<void*>(std::uintptr_t{2});
  mark = device->mark(per_thread, *mark);
  REQUIRE(mark.ok());
  stub.reset();
  CHECK(device->order_after(*mark, per_thread, per_thread).ok());
  CHECK(stub.calls("cuStreamWaitEvent") == 1);
  stub.fail("cuEventRecord", cuda::kOutOfMemory, 0);
  CHECK_FALSE(device->mark(per_thread, *mark).ok());
  stub.fail("cuEventRecord", cuda::kSuccess, 0);
  CHECK(*device->mark(nullptr, *mark) == nullptr);
  device.reset();
  CHECK(stub.new_objects() == 0);
}
