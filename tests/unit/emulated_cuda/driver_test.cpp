// The emulated driver's functions, called as a program does that brings its own PTX.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/cuda/driver.hpp"
#include "tests/unit/emulated_cuda/emulated_driver.hpp"
#include "tests/unit/emulated_cuda/kernel_runs.hpp"

using namespace emulated_cuda;
using namespace idletune::cuda;

namespace {

// A context of the first board, current in this thread, and one stream.
struct Opened {
  explicit Opened(const char* boards = "") : emulated(boards) {
    auto loaded = load_driver(IDLETUNE_EMULATED_CUDA);
    REQUIRE_MESSAGE(loaded.ok(), loaded.status().to_string());
    driver = *loaded;
    REQUIRE(driver->DevicePrimaryCtxRetain(&context, 0) == kSuccess);
    REQUIRE(driver->CtxPushCurrent(context) == kSuccess);
    REQUIRE(driver->StreamCreate(&stream, kStreamNonBlocking) == kSuccess);
  }
  ~Opened() {
    ContextHandle popped = nullptr;
    driver->CtxPopCurrent(&popped);
  }
  Error load(const std::string& ptx, ModuleHandle& module, std::string* log = nullptr) const {
    std::string text(1000, '\0');
    JitOption options[] = {JitOption::error_log_buffer, JitOption::error_log_buffer_size_bytes};
    void* values[] = {&text[0], reinterpret_cast<void*>(text.size())};
    const Error error = driver->ModuleLoadDataEx(&module, ptx.c_str(), 2, options, values);
    if (log != nullptr) *log = text.c_str();
    return error;
  }
  FunctionHandle kernel(const std::string& ptx) const {
    ModuleHandle module = nullptr;
    REQUIRE(load(ptx, module) == kSuccess);
    FunctionHandle function = nullptr;
    REQUIRE(driver->ModuleGetFunction(&function, module, "test") == kSuccess);
    return function;
  }
  Error launch(FunctionHandle function, unsigned blocks, unsigned threads,
               std::vector<std::uint64_t> parameters) const {
    std::vector<void*> places;
    for (std::uint64_t& parameter : parameters) places.push_back(&parameter);
    return driver->LaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, places.data(),
                                nullptr);
  }
  std::uint64_t allocate(std::size_t bytes) const {
    DeviceAddress address = 0;
    REQUIRE(driver->MemAlloc(&address, bytes) == kSuccess);
    return address;
  }

  EmulatedDriver emulated;
  std::shared_ptr<const Driver> driver;
  ContextHandle context = nullptr;
  StreamHandle stream = nullptr;
};

const std::string kStoreNumber =
    kernel_ptx(1,
               "mul.wide.u32 %rd10, %r0, 4; add.s64 %rd10, %rd1, %rd10;\n"
               "st.global.u32 [%rd10], %r0;");

}  // namespace

TEST_CASE("boards are devices, in the order in which they are named") {
  const Opened opened("jetson_nano,orin_nano");
  int count = 0;
  CHECK(opened.driver->DeviceGetCount(&count) == kSuccess);
  CHECK(count == 2);
  char name[100];
  CHECK(opened.driver->DeviceGetName(name, sizeof name, 0) == kSuccess);
  CHECK(std::string(name) == "Emulated Jetson Nano");
  int major = 0;
  CHECK(opened.driver->DeviceGetAttribute(&major, DeviceAttribute::compute_capability_major, 1) ==
        kSuccess);
  CHECK(major == 8);
  CHECK(opened.driver->DeviceGetName(name, sizeof name, 2) == kInvalidValue);
  // PTX for the newer of them.
  ModuleHandle module = nullptr;
  CHECK(opened.load(kStoreNumber, module) == kNoBinaryForGpu);
}

TEST_CASE("what is copied, launched and copied back is done in this order") {
  const Opened opened;
  const Driver& driver = *opened.driver;
  const std::uint64_t numbers = opened.allocate(64 * 4);
  const std::uint64_t copy = opened.allocate(64 * 4);
  std::vector<std::uint32_t> values(64, 9);
  CHECK(driver.MemcpyHtoDAsync(numbers, values.data(), 256, opened.stream) == kSuccess);
  CHECK(opened.launch(opened.kernel(kStoreNumber), 1, 40, {numbers}) == kSuccess);
  CHECK(driver.MemcpyDtoDAsync(copy, numbers, 256, opened.stream) == kSuccess);
  CHECK(driver.MemcpyDtoHAsync(values.data(), copy, 256, opened.stream) == kSuccess);
  CHECK(driver.StreamSynchronize(opened.stream) == kSuccess);
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(values[i] == (i < 40 ? i : 9));
  CHECK(driver.MemFree(numbers) == kSuccess);
  CHECK(opened.emulated.found() == "");
}

TEST_CASE("events carry modelled time, and a stream waits for another's") {
  const Opened opened;
  const Driver& driver = *opened.driver;
  EventHandle events[3] = {};
  for (EventHandle& event : events) REQUIRE(driver.EventCreate(&event, kEventDefault) == kSuccess);
  StreamHandle other = nullptr;
  REQUIRE(driver.StreamCreateWithPriority(&other, kStreamNonBlocking, -5) == kSuccess);
  const std::uint64_t numbers = opened.allocate(64 * 4);
  float milliseconds = 0;
  CHECK(driver.EventElapsedTime(&milliseconds, events[0], events[1]) == kInvalidHandle);
  CHECK(driver.EventRecord(events[0], opened.stream) == kSuccess);
  CHECK(opened.launch(opened.kernel(kStoreNumber), 1, 64, {numbers}) == kSuccess);
  CHECK(driver.EventRecord(events[1], opened.stream) == kSuccess);
  CHECK(driver.StreamWaitEvent(other, events[1], 0) == kSuccess);
  CHECK(driver.EventRecord(events[2], other) == kSuccess);
  CHECK(driver.StreamSynchronize(other) == kSuccess);
  CHECK(driver.EventQuery(events[1]) == kSuccess);
  CHECK(driver.EventElapsedTime(&milliseconds, events[0], events[1]) == kSuccess);
  CHECK(milliseconds > 0);
  CHECK(driver.EventElapsedTime(&milliseconds, events[1], events[2]) == kSuccess);
  CHECK(milliseconds == 0);
  EventHandle untimed = nullptr;
  REQUIRE(driver.EventCreate(&untimed, kEventWithoutTiming) == kSuccess);
  CHECK(driver.EventElapsedTime(&milliseconds, events[0], untimed) == kInvalidHandle);
}

TEST_CASE("an illegal address ends the context for good") {
  const Opened opened;
  const std::uint64_t numbers = opened.allocate(60 * 4);
  CHECK(opened.launch(opened.kernel(kStoreNumber), 1, 64, {numbers}) == kSuccess);
  CHECK(opened.driver->StreamSynchronize(opened.stream) == kIllegalAddress);
  DeviceAddress address = 0;
  CHECK(opened.driver->MemAlloc(&address, 4) == kIllegalAddress);
  CHECK(opened.driver->StreamSynchronize(opened.stream) == kIllegalAddress);
  CHECK(opened.emulated.found().find("illegal address: writes 4 bytes 0 behind 240 bytes: test") ==
        0);
}

TEST_CASE("launches that no device does are refused, and are findings") {
  const Opened opened;
  const FunctionHandle kernel = opened.kernel(kStoreNumber);
  const std::uint64_t numbers = opened.allocate(4096);
  CHECK(opened.launch(kernel, 1, 2048, {numbers}) == kInvalidValue);
  CHECK(opened.launch(kernel, 0, 32, {numbers}) == kInvalidValue);
  void* nothing[] = {nullptr};
  CHECK(opened.driver->LaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, opened.stream, nothing, nullptr) ==
        kInvalidValue);
  CHECK(opened.emulated.found() ==
        "limit: test: 2048 threads along an axis, Emulated Jetson Orin Nano has 1024\n"
        "limit: test: no threads\n"
        "launch: test with too few arguments\n");
  CHECK(opened.launch(kernel, 1, 32, {numbers}) == kSuccess);
}

TEST_CASE("memory that is not allocated is neither freed nor copied") {
  const Opened opened;
  const Driver& driver = *opened.driver;
  const std::uint64_t numbers = opened.allocate(400);
  CHECK(driver.MemFree(numbers + 4) == kInvalidValue);
  char byte = 0;
  CHECK(driver.MemcpyHtoDAsync(numbers + 400, &byte, 1, opened.stream) == kInvalidValue);
  CHECK(driver.MemFree(numbers) == kSuccess);
  CHECK(driver.MemcpyDtoHAsync(&byte, numbers, 1, opened.stream) == kInvalidValue);
  CHECK(opened.emulated.found() ==
        "cuMemFree: an address where no allocation begins: at 4 of 400 bytes\n"
        "cuMemcpyHtoD: 1 bytes from 0 behind 400 bytes\n"
        "cuMemcpyDtoH: 1 bytes from at 0 of 400 bytes that were freed\n");
  DeviceAddress start = 0;
  std::size_t bytes = 0;
  CHECK(driver.MemGetAddressRange(&start, &bytes, numbers) == kNotFound);
  CHECK(driver.MemAlloc(&start, std::size_t{1} << 40) == kOutOfMemory);
}

TEST_CASE("an address of one context is found where another uses it") {
  const Opened opened;
  const Driver& driver = *opened.driver;
  const auto create =
      opened.emulated.function<Error(ContextHandle*, unsigned, DeviceOrdinal)>("cuCtxCreate_v2");
  const std::uint64_t own = opened.allocate(400);
  const FunctionHandle kernel = opened.kernel(kStoreNumber);
  ContextHandle other = nullptr;
  REQUIRE(create(&other, 0, 0) == kSuccess);  // current from here on
  std::uint32_t number = 0;
  DeviceAddress start = 0;
  std::size_t bytes = 0;
  CHECK(driver.MemcpyHtoDAsync(own, &number, 4, nullptr) == kInvalidValue);
  CHECK(driver.MemFree(own) == kInvalidValue);
  CHECK(driver.MemGetAddressRange(&start, &bytes, own) == kNotFound);
  CHECK(opened.launch(kernel, 1, 1, {own}) == kInvalidHandle);
  const std::uint64_t others = opened.allocate(40);
  REQUIRE(driver.CtxPopCurrent(&other) == kSuccess);
  CHECK(opened.launch(kernel, 1, 1, {others}) == kSuccess);
  CHECK(driver.StreamSynchronize(opened.stream) == kIllegalAddress);
  const std::string found = opened.emulated.found();
  CHECK(found.find("cuMemcpyHtoD: 4 bytes from at 0 of 400 bytes of another context\n"
                   "cuMemFree: an address where no allocation begins: at 0 of 400 bytes of another "
                   "context\n"
                   "launch: test or its stream is of another context\n"
                   "illegal address: writes 4 bytes at 0 of 40 bytes of another context: test, "
                   "PTX line ") == 0);
  CHECK(std::count(found.begin(), found.end(), '\n') == 4);
}

TEST_CASE("a module that cannot be read is refused, and its log says why") {
  const Opened opened;
  ModuleHandle module = nullptr;
  std::string log;
  CHECK(opened.load(kernel_ptx(0, "mma.sync;"), module, &log) == kInvalidPtx);
  CHECK(log == "PTX line 9: unsupported instruction mma.sync");
  CHECK(opened.load(".version 12.0\n.target sm_87\n", module, &log) == kUnsupportedPtxVersion);
  CHECK(opened.load("\177ELF", module) == kNoBinaryForGpu);
  CHECK(opened.load(kStoreNumber, module) == kSuccess);
  FunctionHandle function = nullptr;
  CHECK(opened.driver->ModuleGetFunction(&function, module, "other") == kNotFound);
}

TEST_CASE("a module waits for its kernel before it goes, and its functions go with it") {
  const Opened opened;
  ModuleHandle module = nullptr;
  REQUIRE(opened.load(kStoreNumber, module) == kSuccess);
  FunctionHandle function = nullptr;
  REQUIRE(opened.driver->ModuleGetFunction(&function, module, "test") == kSuccess);
  const std::uint64_t numbers = opened.allocate(4096);
  CHECK(opened.launch(function, 1, 1024, {numbers}) == kSuccess);
  CHECK(opened.driver->ModuleUnload(module) == kSuccess);
  CHECK(opened.launch(function, 1, 1, {numbers}) == kInvalidHandle);
  CHECK(opened.driver->ModuleUnload(module) == kInvalidHandle);
  CHECK(opened.emulated.found() == "");
}

TEST_CASE("variables of a module keep their values from launch to launch") {
  const Opened opened;
  const std::uint64_t out = opened.allocate(4);
  const FunctionHandle kernel = opened.kernel(
      kernel_ptx(1,
                 "ld.global.u32 %r1, [count]; add.u32 %r1, %r1, 1; st.global.u32 [count], %r1;\n"
                 "st.global.u32 [%rd1], %r1;",
                 ".global .align 4 .u32 count = 5;\n"));
  for (int i = 0; i < 3; ++i) CHECK(opened.launch(kernel, 1, 1, {out}) == kSuccess);
  std::uint32_t value = 0;
  CHECK(opened.driver->MemcpyDtoHAsync(&value, out, 4, opened.stream) == kSuccess);
  CHECK(value == 8);
}

TEST_CASE("while a kernel without end runs, another stream goes on") {
  const Opened opened;
  const Driver& driver = *opened.driver;
  StreamHandle other = nullptr;
  REQUIRE(driver.StreamCreate(&other, kStreamNonBlocking) == kSuccess);
  EventHandle event = nullptr;
  REQUIRE(driver.EventCreate(&event, kEventDefault) == kSuccess);
  CHECK(opened.launch(opened.kernel(kernel_ptx(0, "$again: bra $again;")), 1, 1, {}) == kSuccess);
  CHECK(driver.EventRecord(event, opened.stream) == kSuccess);
  CHECK(driver.EventQuery(event) == kNotReady);
  const std::uint64_t numbers = opened.allocate(4);
  const std::uint32_t seven = 7;
  std::uint32_t value = 0;
  CHECK(driver.MemcpyHtoDAsync(numbers, &seven, 4, other) == kSuccess);
  CHECK(driver.MemcpyDtoHAsync(&value, numbers, 4, other) == kSuccess);
  CHECK(value == 7);
  CHECK(driver.EventQuery(event) == kNotReady);
}

TEST_CASE("a capture is lost where something must not be called meanwhile, and graphs run again") {
  const Opened opened;
  const Driver& driver = *opened.driver;
  const auto begin =
      opened.emulated.function<Error(StreamHandle, CaptureMode)>("cuStreamBeginCapture_v2");
  const auto end = opened.emulated.function<Error(StreamHandle, void**)>("cuStreamEndCapture");
  const auto make = opened.emulated.function<Error(void**, void*, unsigned long long)>(
      "cuGraphInstantiateWithFlags");
  const auto replay = opened.emulated.function<Error(void*, StreamHandle)>("cuGraphLaunch");
  constexpr Error kUnsupported = 900, kInvalidated = 901;
  ModuleHandle module = nullptr;
  REQUIRE(opened.load(kStoreNumber, module) == kSuccess);
  FunctionHandle function = nullptr;
  REQUIRE(driver.ModuleGetFunction(&function, module, "test") == kSuccess);
  const std::uint64_t numbers = opened.allocate(64 * 4);
  DeviceAddress more = 0;
  void* graph = nullptr;
  REQUIRE(begin(opened.stream, CaptureMode::global) == kSuccess);
  CHECK(driver.MemAlloc(&more, 4) == kUnsupported);
  CHECK(driver.StreamSynchronize(opened.stream) == kUnsupported);
  CHECK(end(opened.stream, &graph) == kInvalidated);
  REQUIRE(begin(opened.stream, CaptureMode::global) == kSuccess);
  CaptureMode mode = CaptureMode::relaxed;
  CHECK(driver.ThreadExchangeStreamCaptureMode(&mode) == kSuccess);
  CHECK(driver.MemAlloc(&more, 4) == kSuccess);
  CHECK(driver.ThreadExchangeStreamCaptureMode(&mode) == kSuccess);
  CHECK(opened.launch(function, 1, 64, {numbers}) == kSuccess);
  REQUIRE(end(opened.stream, &graph) == kSuccess);
  // A captured stream cannot be waited for, whatever is let through otherwise.
  void* lost = nullptr;
  REQUIRE(begin(opened.stream, CaptureMode::relaxed) == kSuccess);
  CHECK(driver.StreamSynchronize(opened.stream) == kUnsupported);
  CHECK(end(opened.stream, &lost) == kInvalidated);
  void* executable = nullptr;
  REQUIRE(make(&executable, graph, 0) == kSuccess);
  std::vector<std::uint32_t> values(64, 9);
  for (int i = 0; i < 2; ++i) {
    CHECK(driver.MemcpyHtoDAsync(numbers, std::vector<std::uint32_t>(64, 9).data(), 256,
                                 opened.stream) == kSuccess);
    CHECK(replay(executable, opened.stream) == kSuccess);
    CHECK(driver.MemcpyDtoHAsync(values.data(), numbers, 256, opened.stream) == kSuccess);
    CHECK(values[63] == 63);
  }
  CHECK(opened.emulated.found() == "");
  CHECK(driver.ModuleUnload(module) == kSuccess);
  CHECK(replay(executable, opened.stream) == kSuccess);
  CHECK(opened.emulated.found() == "launch: test of a module that was unloaded\n");
}
