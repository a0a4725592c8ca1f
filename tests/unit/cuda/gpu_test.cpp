// The CUDA back end on this machine's own GPU and driver, or on an emulated device; skipped where
// there is none. A sticky error at the end is the process's last word to the GPU, which is why this
// is one case.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include <idletune/cuda.hpp>

#include "tests/bytes_of.hpp"
#include "tests/unit/cuda/asked_cuda.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

using namespace std::chrono_literals;
using namespace idletune;
using idletune::test::bytes_of;
using idletune::test::TemporaryFolder;

namespace {

constexpr int kElements = 1000003;  // a prime: the last group is not full

constexpr const char* kSource = R"(
extern "C" __global__ void scale(float* out, const float* in, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#if BEHAVIOUR == 1
  out = (float*)16;
#endif
  if (i < n) out[i] = factor * in[i];
}
)";

Range whole_range() {
  Range range;
  range.local = {128, 1, 1};
  range.global = {(kElements + 127) / 128 * 128, 1, 1};
  return range;
}

std::unique_ptr<Program> compiled_on_gpu(Device& device, const char* options) {
  return required(device.compile({kSource, "scale", options, 1}));
}

// `scale` with its buffers on the GPU.
struct Work {
  explicit Work(Device& gpu) : device(gpu) {
    for (int i = 0; i < kElements; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i);
    for (std::unique_ptr<Buffer>* buffer : {&in, &out}) {
      auto made = required(device.allocate(values.size() * sizeof(float)));
      *buffer = std::move(made);
    }
    REQUIRE(device.write(*in, 0, bytes_of(values)).ok());
    arguments = {out->argument(), in->argument(), 2.0f, kElements};
  }
  std::size_t wrong_results() const {
    std::vector<float> result(kElements);
    REQUIRE(device.read(*out, 0, test::writable_bytes_of(result)).ok());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < result.size(); ++i) wrong += result[i] != 2 * values[i];
    return wrong;
  }

  Device& device;
  std::vector<float> values = std::vector<float>(kElements);
  std::unique_ptr<Buffer> in, out;
  std::vector<Argument> arguments;
};

void launch_and_time(Device& device, const Work& work) {
  auto program = compiled_on_gpu(device, "-DBEHAVIOUR=0");
  void* ticket = nullptr;
  REQUIRE(program->enqueue(0, whole_range(), work.arguments, {}, &ticket).ok());
  REQUIRE(ticket != nullptr);
  Result<Nanoseconds> time = device.elapsed(ticket);
  while (time.code() == StatusCode::busy) time = device.elapsed(ticket);
  REQUIRE_MESSAGE(time.ok(), time.status().to_string());
  CHECK(*time > 0ns);
}

// Too few arguments and nonsense for a source spoil nothing.
void refuse_mistakes(Device& device, const Work& work) {
  auto program = compiled_on_gpu(device, "-DBEHAVIOUR=0");
  auto mistaken = device.compile({"nonsense", "scale", "", 1});
  CHECK(mistaken.code() == StatusCode::compile_error);
  const Argument few[] = {work.arguments[0]};
  if (program->enqueue(0, whole_range(), few, {}, nullptr).ok()) {
    MESSAGE("this driver does not tell a kernel's parameters (before CUDA 12.4)");
  }
  CHECK(device.usable().ok());
}

}  // namespace

TEST_CASE("this machine's GPU compiles, runs, times, and survives adoption; then it is spoilt" *
          doctest::test_suite("CUDA device")) {
  TemporaryFolder folder;
  cuda::OpenOptions options = test::asked_cuda();
  options.cache_folder = folder.path() + "/programs";
  auto opened = cuda::open(0, options);
  if (!opened.ok()) {
    return test::skip(opened.status().to_string());
  }
  Device& device = **opened;
  MESSAGE(device.info().name << ", " << device.info().driver);
  if (!device.info().has_compiler) {
    return test::skip("no NVRTC for this GPU");
  }
  CHECK(device.info().compute_units > 0);
  CHECK(device.info().max_work_group_size >= 512);
  Work work(device);
  auto program = compiled_on_gpu(device, "-DBEHAVIOUR=0");
  compiled_on_gpu(device, "-DBEHAVIOUR=0");
  CHECK(cuda::cache_counters(device).hits == 1);
  CHECK(program->max_work_group_size() >= 128);

  auto times = required(device.run(*program, whole_range(), work.arguments, 20s));
  CHECK(times.device > 0ns);
  CHECK(times.device <= times.wall);
  CHECK(work.wrong_results() == 0);

  auto adopted =
      required(cuda::adopt(cuda::handles(device).context, cuda::handles(device).stream, options));
  launch_and_time(*adopted, work);

  auto matching = cuda::open_matching(device.info(), options);
  CHECK_MESSAGE(matching.ok(), matching.status().to_string());
  refuse_mistakes(device, work);

  auto bad = compiled_on_gpu(device, "-DBEHAVIOUR=1");
  auto broken = device.run(*bad, whole_range(), work.arguments, 20s);
  REQUIRE(broken.code() == StatusCode::device_error);
  CHECK(device.usable().code() == StatusCode::device_error);
  const Status refused = device.run(*program, whole_range(), work.arguments, 20s).status();
  CHECK(refused.message().find("is lost to this process: ") != std::string::npos);
}
