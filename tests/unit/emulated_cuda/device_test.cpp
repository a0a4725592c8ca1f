// The CUDA back end on the emulated device: what is compiled, run, timed, and goes wrong.
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/bytes_of.hpp"
#include "tests/unit/emulated_cuda/emulated_driver.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

using namespace idletune;
using namespace std::chrono_literals;
using emulated_cuda::EmulatedDriver;

namespace {

constexpr const char* kSource = R"(
extern "C" __global__ void scale(float* out, const float* in, float factor, int n) {
  __shared__ float part[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
#if BEHAVIOUR == 1
  out += 100;
#elif BEHAVIOUR == 2
  while (i < 1000000) __syncthreads();
#endif
  if (i < n) out[i] = factor * part[blockDim.x - 1 - threadIdx.x];
}
)";

// Null, and the case is skipped, where there is no NVRTC.
std::unique_ptr<Device> open_device(const EmulatedDriver& emulated, std::uint32_t index = 0) {
  auto opened = required(cuda::open(index, emulated.options()));
  if (opened->info().has_compiler) return opened;
  test::skip("no NVRTC");
  return nullptr;
}

struct DeviceWork {
  DeviceWork(Device& on, const char* options) : device(on) {
    program = required(device.compile({kSource, "scale", options, 1}));
    for (std::unique_ptr<Buffer>* buffer : {&in, &out}) {
      auto made = required(device.allocate(values.size() * sizeof(float)));
      *buffer = std::move(made);
    }
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    REQUIRE(device.write(*in, 0, idletune::test::bytes_of(values)).ok());
    range.local = {128, 1, 1};
    range.global = {256, 1, 1};
    arguments = {out->argument(), in->argument(), 2.0f, 200};
  }
  Result<RunTimes> run(Nanoseconds deadline = 60s) {
    return device.run(*program, range, arguments, deadline);
  }
  std::vector<float> result() {
    std::vector<float> result(values.size());
    REQUIRE(device.read(*out, 0, idletune::test::writable_bytes_of(result)).ok());
    return result;
  }

  Device& device;
  std::unique_ptr<Program> program;
  std::vector<float> values = std::vector<float>(200);
  std::unique_ptr<Buffer> in, out;
  Range range;
  std::vector<Argument> arguments;
};

}  // namespace

TEST_CASE("a kernel in CUDA runs on each board, and its time is modelled" *
          doctest::test_suite("NVRTC")) {
  const EmulatedDriver emulated("orin_nano,jetson_nano");
  for (const std::uint32_t index : {0u, 1u}) {
    const auto device = open_device(emulated, index);
    if (device == nullptr) return;
    CHECK(device->info().name ==
          (index == 0 ? "Emulated Jetson Orin Nano" : "Emulated Jetson Nano"));
    CHECK(device->info().compute_units == (index == 0 ? 8 : 1));
    DeviceWork work(*device, "-DBEHAVIOUR=0");
    const auto first = required(work.run());
    CHECK(first.device > 0ns);
    CHECK(work.run()->device == first.device);
    const std::vector<float> result = work.result();
    // Of the last block only 72 of 128 threads have numbers: the others have put zeros.
    for (std::size_t i = 0; i < 200; ++i) {
      const std::size_t from = i < 128 ? 127 - i : 128 + 127 - (i - 128);
      CHECK(result[i] == (from < 200 ? 2 * work.values[from] : 0));
    }
  }
  CHECK(emulated.found() == "");
}

TEST_CASE("an access outside of a buffer ends the device, and names the line of the source" *
          doctest::test_suite("NVRTC")) {
  const EmulatedDriver emulated;
  const auto device = open_device(emulated);
  if (device == nullptr) return;
  DeviceWork work(*device, "-DBEHAVIOUR=1");
  CHECK(work.run().code() == StatusCode::device_error);
  CHECK(device->usable().code() == StatusCode::device_error);
  CHECK(device->allocate(4).code() == StatusCode::device_error);
  CHECK(emulated.found().find(
            "illegal address: writes 4 bytes 0 behind 800 bytes: scale, PTX line ") == 0);
  CHECK(emulated.found().find("(kernel.cu:12), block 0,0,0, thread 100,0,0") != std::string::npos);
}

TEST_CASE("a kernel without end outlives its deadline" * doctest::test_suite("NVRTC")) {
  const EmulatedDriver emulated;
  const auto device = open_device(emulated);
  if (device == nullptr) return;
  DeviceWork work(*device, "-DBEHAVIOUR=2");
  CHECK(work.run(30ms).code() == StatusCode::timeout);
  CHECK(!device->usable().ok());
}

TEST_CASE(
    "the default stream of an adopted context is not captured, on a thread without a context") {
  const EmulatedDriver emulated;
  auto opened = required(cuda::open(0, emulated.options()));
  auto adopted = required(cuda::adopt(cuda::handles(*opened).context, nullptr, emulated.options()));
  CHECK(!adopted->capturing(nullptr));
}

TEST_CASE(
    "PTX that is newer than the driver is refused, and where nothing compiles it is told why") {
  const EmulatedDriver emulated;
  auto options = emulated.options();
  options.nvrtc_library = "none";
  auto device = required(cuda::open(0, options));
  const std::string ptx = ".version 12.0\n.target sm_87\n";
  const PrebuiltBinary binary{
      BinaryFormat::ptx, {reinterpret_cast<const std::uint8_t*>(ptx.c_str()), ptx.size() + 1}, 87};
  CompileRequest request{kSource, "scale", "", 1};
  request.prebuilt = {&binary, 1};
  const auto refused = device->compile(request);
  REQUIRE(refused.code() == StatusCode::unsupported);
  CHECK_MESSAGE(
      refused.status().message().find("CUDA_ERROR_UNSUPPORTED_PTX_VERSION") != std::string::npos,
      refused.status().message());
  CHECK(device->usable().ok());
}
