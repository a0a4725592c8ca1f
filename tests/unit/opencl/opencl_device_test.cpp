// The OpenCL back end on whatever OpenCL device this machine has (PoCL on the build machine).
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <idletune/opencl.hpp>

#include "platform/opencl/loader.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

namespace {

using namespace std::chrono_literals;
using namespace idletune;
using namespace idletune::test;

constexpr const char* kSaxpy = R"(
__kernel void saxpy(__global float* y, __global const float* x, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] += a * x[i];
})";

constexpr std::size_t kCount = 1000;
constexpr std::size_t kBytes = kCount * sizeof(float);

Range saxpy_range() {
  Range range;
  range.global = {1024, 1, 1};
  range.local = {64, 1, 1};
  return range;
}

std::unique_ptr<Device> open_first(const opencl::OpenOptions& options = {}) {
  return required(opencl::open(0, options));
}

// x and y of the test and what y must be after one saxpy with a = 2.
struct Vectors {
  explicit Vectors(Device& device) {
    std::vector<float> host(kCount);
    for (std::size_t i = 0; i < kCount; ++i) host[i] = static_cast<float>(i);
    x = std::move(*device.allocate(kBytes));
    y = std::move(*device.allocate(kBytes));
    REQUIRE(device.write(*x, 0, bytes_of(host)).ok());
    REQUIRE(device.write(*y, 0, bytes_of(std::vector<float>(kCount, 1.0f))).ok());
  }
  void check(Device& device, float expected_factor) const {
    std::vector<float> result(kCount);
    REQUIRE(device.read(*y, 0, writable_bytes_of(result)).ok());
    for (std::size_t i = 0; i < kCount; ++i) {
      REQUIRE(result[i] == 1.0f + expected_factor * static_cast<float>(i));
    }
  }
  std::unique_ptr<idletune::Buffer> x, y;
};

std::unique_ptr<idletune::Program> compile_saxpy(Device& device, std::uint32_t lanes) {
  CompileRequest request;
  request.source = kSaxpy;
  request.entry = "saxpy";
  request.options = "-cl-std=CL1.2";
  request.lanes = lanes;
  return required(device.compile(request));
}

}  // namespace

TEST_CASE("list describes every device and open gives the one of that index") {
  auto devices = required(opencl::list());
  REQUIRE(!devices.empty());
  for (std::uint32_t i = 0; i < devices.size(); ++i) {
    const idletune::DeviceInfo& info = devices[i];
    CHECK(info.backend == "opencl");
    CHECK(info.index == i);
    CHECK(!info.name.empty());
    CHECK(!info.platform.empty());
    CHECK(!info.driver.empty());
    CHECK(info.compute_units > 0);
    CHECK(info.local_memory_bytes > 0);
    CHECK(info.max_allocation_bytes > 0);
    CHECK(info.max_work_group_size > 0);
    CHECK(info.max_work_item_sizes[0] > 0);
    auto device = required(opencl::open(i));
    CHECK(device->info().name == info.name);
    CHECK(device->info().device_key() == info.device_key());
    CHECK(device->info().driver_key() == info.driver_key());
  }
  auto beyond = opencl::open(static_cast<std::uint32_t>(devices.size()));
  CHECK(beyond.code() == StatusCode::not_found);
}

TEST_CASE("open_matching finds the same device again and refuses another driver") {
  auto devices = required(opencl::list());
  REQUIRE(!devices.empty());
  idletune::DeviceInfo wanted = devices.back();
  auto same = required(opencl::open_matching(wanted, {}));
  CHECK(same->info().index == wanted.index);
  CHECK(same->info().driver_key() == wanted.driver_key());
  wanted.driver += " (next version)";
  auto other = opencl::open_matching(wanted, {});
  CHECK(other.code() == StatusCode::not_found);
  CHECK(other.status().message().find(wanted.driver) != std::string::npos);
}

TEST_CASE("a saxpy compiles, runs on the tuning queue and gives the right numbers") {
  auto device = open_first();
  Vectors vectors(*device);
  auto program = compile_saxpy(*device, 1);
  CHECK(program->max_work_group_size() >= 64);
  const Argument arguments[] = {vectors.y->argument(), vectors.x->argument(), 2.0f,
                                std::int32_t{kCount}};
  auto times = required(device->run(*program, saxpy_range(), arguments, 60s));
  CHECK(times.device > 0ns);
  CHECK(times.wall >= times.device);
  vectors.check(*device, 2.0f);
}

TEST_CASE("copies outside a buffer are refused and change nothing") {
  auto device = open_first();
  auto buffer = required(device->allocate(16));
  std::vector<float> four{1, 2, 3, 4};
  CHECK(device->write(*buffer, 0, bytes_of(four)).ok());
  CHECK(device->write(*buffer, 4, bytes_of(four)).code() == StatusCode::invalid_argument);
  CHECK(device->read(*buffer, 17, MutableBytes()).code() == StatusCode::invalid_argument);
  CHECK(device->read(*buffer, SIZE_MAX, writable_bytes_of(four)).code() ==
        StatusCode::invalid_argument);
  std::vector<float> last(1);
  CHECK(device->read(*buffer, 12, writable_bytes_of(last)).ok());
  CHECK(last[0] == 4.0f);
}

TEST_CASE("allocations beyond the device's limit and of nothing are refused") {
  auto device = open_first();
  CHECK(device->allocate(0).code() == StatusCode::invalid_argument);
  const std::uint64_t limit = device->info().max_allocation_bytes;
  if (limit < SIZE_MAX) {
    CHECK(device->allocate(static_cast<std::size_t>(limit) + 1).code() ==
          StatusCode::out_of_memory);
  }
}

TEST_CASE("a kernel that does not compile brings the compiler's words") {
  auto device = open_first();
  CompileRequest request;
  request.source = "__kernel void broken(__global float* y) { y[0] = no_such_name; }";
  request.entry = "broken";
  auto program = device->compile(request);
  REQUIRE(program.code() == StatusCode::compile_error);
  CHECK(program.status().message().find("no_such_name") != std::string::npos);
  CHECK(program.status().message().size() < 4000);
  request.source = kSaxpy;
  request.entry = "sgemm";
  program = device->compile(request);
  REQUIRE(program.code() == StatusCode::compile_error);
  CHECK(program.status().message().find("sgemm") != std::string::npos);
}

TEST_CASE("a second device with the same cache folder takes the program from there") {
  TemporaryFolder folder;
  opencl::OpenOptions options;
  options.cache_folder = folder.path() + "/programs";
  {
    auto device = open_first(options);
    compile_saxpy(*device, 1);
    const opencl::CacheCounters counters = opencl::cache_counters(*device);
    CHECK(counters.misses == 1);
    CHECK(counters.stored == 1);
    CHECK(counters.store_errors == 0);
  }
  auto device = open_first(options);
  auto program = compile_saxpy(*device, 2);
  const opencl::CacheCounters counters = opencl::cache_counters(*device);
  CHECK(counters.hits == 1);
  CHECK(counters.misses == 0);
  Vectors vectors(*device);
  const Argument arguments[] = {vectors.y->argument(), vectors.x->argument(), 3.0f,
                                std::int32_t{kCount}};
  REQUIRE(device->run(*program, saxpy_range(), arguments, 60s).ok());
  vectors.check(*device, 3.0f);
}

namespace {

// An application's own OpenCL objects.
struct Application {
  explicit Application(cl_command_queue_properties properties) {
    api = required(opencl::load(""));
    cl_platform_id platform = nullptr;
    REQUIRE(api->GetPlatformIDs(1, &platform, nullptr) == CL_SUCCESS);
    REQUIRE(api->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS);
    cl_int error = CL_SUCCESS;
    context = api->CreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    REQUIRE(error == CL_SUCCESS);
    queue = api->CreateCommandQueue(context, device, properties, &error);
    REQUIRE(error == CL_SUCCESS);
  }
  ~Application() {
    api->ReleaseCommandQueue(queue);
    api->ReleaseContext(context);
  }
  cl_uint queue_references() const {
    cl_uint count = 0;
    REQUIRE(api->GetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count,
                                     nullptr) == CL_SUCCESS);
    return count;
  }
  std::shared_ptr<const opencl::Api> api;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

}  // namespace

TEST_CASE("an adopted queue runs launches, gives profiles and is given back") {
  Application app(CL_QUEUE_PROFILING_ENABLE);
  {
    auto adopted = required(opencl::adopt(app.context, app.device, app.queue));
    Device& device = *adopted;
    CHECK(opencl::handles(device).context == app.context);
    CHECK(opencl::handles(device).device == app.device);
    CHECK(opencl::handles(device).queue == app.queue);
    CHECK(app.queue_references() == 2);
    Vectors vectors(device);
    auto program = compile_saxpy(device, 1);
    const Argument arguments[] = {vectors.y->argument(), vectors.x->argument(), 2.0f,
                                  std::int32_t{kCount}};
    void* ticket = nullptr;
    cl_event event = nullptr;
    LaunchOptions options;
    options.event = &event;
    REQUIRE(program->enqueue(0, saxpy_range(), arguments, options, &ticket).ok());
    REQUIRE(ticket != nullptr);
    REQUIRE(event != nullptr);
    REQUIRE(app.api->Finish(app.queue) == CL_SUCCESS);
    auto time = required(device.elapsed(ticket));
    CHECK(time > 0ns);
    CHECK(app.api->ReleaseEvent(event) == CL_SUCCESS);
    vectors.check(device, 2.0f);
  }
  CHECK(app.queue_references() == 1);
}

TEST_CASE("an adopted queue without profiling runs launches and gives no ticket") {
  Application app(0);
  auto adopted = required(opencl::adopt(app.context, app.device, app.queue));
  Device& device = *adopted;
  Vectors vectors(device);
  auto program = compile_saxpy(device, 1);
  const Argument arguments[] = {vectors.y->argument(), vectors.x->argument(), 2.0f,
                                std::int32_t{kCount}};
  void* ticket = &device;
  REQUIRE(program->enqueue(0, saxpy_range(), arguments, {}, &ticket).ok());
  CHECK(ticket == nullptr);
  CHECK(device.elapsed(ticket).code() == StatusCode::unsupported);
  REQUIRE(app.api->Finish(app.queue) == CL_SUCCESS);
  vectors.check(device, 2.0f);
}

TEST_CASE("a launch waits for the events it is given") {
  Application app(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  auto adopted = required(opencl::adopt(app.context, app.device, app.queue));
  Device& device = *adopted;
  Vectors vectors(device);
  auto program = compile_saxpy(device, 2);
  const Argument arguments[] = {vectors.y->argument(), vectors.x->argument(), 1.0f,
                                std::int32_t{kCount}};
  void* previous = nullptr;
  for (int i = 0; i < 20; ++i) {  // each reads what the one before wrote
    cl_event event = nullptr;
    LaunchOptions options;
    const void* waits[] = {previous};
    options.wait_list = waits;
    options.wait_count = previous != nullptr ? 1 : 0;
    if (previous == nullptr) options.wait_list = nullptr;
    options.event = &event;
    REQUIRE(
        program
            ->enqueue(static_cast<std::uint32_t>(i % 2), saxpy_range(), arguments, options, nullptr)
            .ok());
    if (previous != nullptr) app.api->ReleaseEvent(static_cast<cl_event>(previous));
    previous = event;
  }
  REQUIRE(app.api->Finish(app.queue) == CL_SUCCESS);
  app.api->ReleaseEvent(static_cast<cl_event>(previous));
  vectors.check(device, 20.0f);
}

TEST_CASE("two threads launch on two lanes while a third tunes the same program") {
  auto device = open_first();
  auto program = compile_saxpy(*device, 2);
  constexpr int kLaunches = 200;
  Vectors first(*device), second(*device), tuned(*device);
  std::atomic<int> failures{0};
  auto launch = [&](std::uint32_t lane, Vectors& vectors) {
    for (int i = 0; i < kLaunches; ++i) {
      const Argument arguments[] = {vectors.y->argument(), vectors.x->argument(), 1.0f,
                                    std::int32_t{kCount}};
      if (!program->enqueue(lane, saxpy_range(), arguments, {}, nullptr).ok()) ++failures;
    }
  };
  std::thread one(launch, 0u, std::ref(first));
  std::thread two(launch, 1u, std::ref(second));
  for (int i = 0; i < 50; ++i) {
    const Argument arguments[] = {tuned.y->argument(), tuned.x->argument(), 1.0f,
                                  std::int32_t{kCount}};
    if (!device->run(*program, saxpy_range(), arguments, 60s).ok()) ++failures;
  }
  one.join();
  two.join();
  CHECK(failures == 0);
  auto api = required(opencl::load(""));
  REQUIRE(api->Finish(static_cast<cl_command_queue>(opencl::handles(*device).queue)) == CL_SUCCESS);
  first.check(*device, kLaunches);
  second.check(*device, kLaunches);
  tuned.check(*device, 50.0f);
}

TEST_CASE("adopt refuses handles that do not belong together") {
  Application one(0), other(0);
  CHECK(opencl::adopt(one.context, one.device, other.queue).code() == StatusCode::invalid_argument);
  CHECK(opencl::adopt(nullptr, one.device, one.queue).code() == StatusCode::invalid_argument);
  CHECK(opencl::adopt(one.context, nullptr, one.queue).code() == StatusCode::invalid_argument);
  auto without_queue = required(opencl::adopt(one.context, one.device, nullptr));
  CHECK(opencl::handles(*without_queue).queue != nullptr);
}

// Not a test by itself: the program that the next case starts. Leaves by _exit with a code.
TEST_CASE("endless kernel in a process of its own" * doctest::skip()) {
  auto device = open_first();
  CompileRequest request;
  request.source = R"(
__kernel void endless(__global volatile int* go) {
  while (go[0] == 0) {}
})";
  request.entry = "endless";
  auto program = device->compile(request);
  auto flag = device->allocate(4);
  if (!program.ok() || !flag.ok()) _exit(10);
  const std::uint8_t zero[4] = {};
  if (!device->write(**flag, 0, zero).ok()) _exit(11);
  const Argument arguments[] = {(*flag)->argument()};
  Range range;
  auto times = device->run(**program, range, arguments, 300ms);
  if (times.code() != StatusCode::timeout) _exit(12);
  // From here on everything must answer at once instead of waiting for the kernel.
  std::uint8_t out[4];
  if (device->read(**flag, 0, out).code() != StatusCode::device_error) _exit(13);
  if (device->run(**program, range, arguments, 300ms).code() != StatusCode::device_error) _exit(14);
  if (device->compile(request).code() != StatusCode::device_error) _exit(15);
  if (device->allocate(4).code() != StatusCode::device_error) _exit(16);
  program->reset();
  flag->reset();
  device.reset();
  _exit(42);
}

TEST_CASE("a run that outlives its deadline is a timeout and blocks nothing afterwards") {
  char self[4096] = {};
  REQUIRE(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
  const std::string command = "exec timeout 120 '" + std::string(self) +
                              "' --no-skip --test-case='endless kernel in a process of its own' "
                              ">/dev/null 2>&1";
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
}

TEST_CASE("windows into a buffer are buffers to kernels") {
  auto device = open_first();
  const std::size_t alignment = device->window_alignment_bytes();
  REQUIRE(alignment > 0);
  auto program = compile_saxpy(*device, 1);
  const std::size_t guard = (kBytes + alignment - 1) / alignment * alignment;
  auto parent = device->allocate(3 * guard);
  auto x = device->allocate(kBytes);
  REQUIRE(parent.ok());
  REQUIRE(x.ok());
  std::vector<float> all(3 * guard / sizeof(float), 5.0f);
  REQUIRE(device->write(**parent, 0, bytes_of(all)).ok());
  REQUIRE(device->write(**x, 0, bytes_of(std::vector<float>(kCount, 1.0f))).ok());
  {
    auto window = required(device->window(**parent, guard, kBytes));
    const Argument arguments[] = {window->argument(), (*x)->argument(), 2.0f, std::int32_t{kCount}};
    REQUIRE(device->run(*program, saxpy_range(), arguments, 60s).ok());
  }
  REQUIRE(device->read(**parent, 0, writable_bytes_of(all)).ok());
  const std::size_t first = guard / sizeof(float);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool inside = i >= first && i < first + kCount;
    REQUIRE(all[i] == (inside ? 7.0f : 5.0f));
  }
}
