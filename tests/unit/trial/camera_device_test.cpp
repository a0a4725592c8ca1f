// Bytes, 16-bit integers, halves and local memory as an argument, on a real device; and what an
// application may pass by mistake.
#include <doctest/doctest.h>

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/opencl.hpp>

#include "agent/trial/trial_executor.hpp"
#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/opencl/loader.hpp"
#include "tests/paths.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

constexpr std::int64_t kPixels = 1001;  // odd: buffers end amid a word

std::vector<std::uint8_t> camera_bytes() {
  return required(pack(required(read_kernel_xml(IDLETUNE_TEST_DATA_FOLDER "/kernels/camera.xml"))));
}

std::unique_ptr<Device> open_first_device() { return required(opencl::open(0)); }

TrialRequest check_of(const Configuration& configuration, std::uint32_t seed) {
  TrialRequest request;
  request.stage = TrialStage::check;
  request.shape = {kPixels};
  request.configuration = configuration;
  request.seed = seed;
  return request;
}

// A kernel in an application that tunes nothing, with its buffers.
struct Camera {
  Camera() : device(open_first_device()) {
    AgentOptions options;
    options.read_environment = false;
    options.model = kNoModel;
    options.mode = Mode::off;
    agent = std::make_unique<Agent>(std::move(Agent::open(options).value()));
    auto loaded = required(agent->kernel(*device, camera_bytes()));
    kernel = std::make_unique<TunedKernel>(loaded);
    for (const std::size_t size : {1, 2, 2, 1}) {
      buffers.push_back(required(device->allocate(kPixels * size)));
    }
  }
  std::vector<Argument> arguments() const {
    std::vector<Argument> list;
    for (const auto& buffer : buffers) list.push_back(buffer->argument());
    list.emplace_back(0.25f);
    list.emplace_back(std::uint8_t{60});
    return list;
  }
  Status launch(const std::vector<Argument>& list, const Shape& shape = {kPixels}) {
    return kernel->launch(LaunchOptions{}, shape, Span<const Argument>(list));
  }
  std::string refusal_of(std::size_t position, const Argument& argument) {
    std::vector<Argument> list = arguments();
    list[position] = argument;
    const Status status = launch(list);
    CHECK(status.code() == StatusCode::invalid_argument);
    return status.message();
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<Agent> agent;
  std::unique_ptr<TunedKernel> kernel;
  std::vector<std::unique_ptr<Buffer>> buffers;
};

// An image, by the library that the device came from.
class Image {
 public:
  explicit Image(Device& device) {
    auto api = required(opencl::load(""));
    library_ = dlopen(api->path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) library_ = dlopen(nullptr, RTLD_NOW);
    const auto create =
        reinterpret_cast<decltype(&clCreateImage)>(dlsym(library_, "clCreateImage"));
    REQUIRE((create != nullptr));
    cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc description{};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = description.image_height = 64;
    cl_int error = CL_SUCCESS;
    image = create(static_cast<cl_context>(opencl::handles(device).context), CL_MEM_READ_WRITE,
                   &format, &description, nullptr, &error);
    REQUIRE(error == CL_SUCCESS);
    api_ = api;
  }
  ~Image() { api_->ReleaseMemObject(image); }
  cl_mem image = nullptr;

 private:
  std::shared_ptr<const opencl::Api> api_;
  void* library_ = nullptr;
};

}  // namespace

TEST_CASE("bytes, shorts and halves are tried like floats") {
  auto device = open_first_device();
  auto package = required(KernelPackage::open(camera_bytes(), "camera"));
  TrialExecutor executor(*device, package);
  for (const std::uint32_t seed : {1u, 2u}) {
    const TrialOutcome right = executor.run(check_of({64, 0}, seed));
    CHECK_MESSAGE(right.status == TrialStatus::correct, right.message);
  }
  const TrialOutcome wrong = executor.run(check_of({64, 1}, 1));
  CHECK(wrong.status == TrialStatus::correctness);
  CHECK_MESSAGE(wrong.message.find("output 'bytes': element ") != std::string::npos, wrong.message);
}

TEST_CASE("an application launches with bytes, and the results are right") {
  Camera camera;
  std::vector<std::uint8_t> pixels(kPixels);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7);
  REQUIRE(camera.device->write(*camera.buffers[0], 0, pixels).ok());
  const Status launched = camera.launch(camera.arguments());
  REQUIRE_MESSAGE(launched.ok(), launched.to_string());
  auto api = required(opencl::load(""));
  api->Finish(static_cast<cl_command_queue>(opencl::handles(*camera.device).queue));
  std::vector<std::uint8_t> out(kPixels);
  REQUIRE(camera.device->read(*camera.buffers[3], 0, out).ok());
  std::vector<std::uint8_t> halves(2 * kPixels);
  REQUIRE(camera.device->read(*camera.buffers[1], 0, halves).ok());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int before = i > 0 ? pixels[i - 1] : 0;
    const int after = i + 1 < out.size() ? pixels[i + 1] : 0;
    const int sum = before + 2 * pixels[i] + after;
    CHECK(out[i] == std::min(sum / 4 + 60, 255));
    Half half;
    std::memcpy(&half, halves.data() + 2 * i, 2);
    CHECK(half.value() == sum * 0.25);
  }
}

TEST_CASE("what is no buffer, or too small a one, never reaches the driver") {
  Camera camera;
  auto small = required(camera.device->allocate(2 * kPixels - 2));
  CHECK(camera.refusal_of(1, small->argument()) ==
        "kernel 'camera', argument 'bright': got a buffer of 2000 bytes, expected at least 2002");
  std::vector<float> shared(4096);
  CHECK(camera.refusal_of(0, shared.data()).find("expected a cl_mem") != std::string::npos);
  void* untyped = shared.data();
  CHECK(camera.refusal_of(0, untyped).find("expected a cl_mem") != std::string::npos);
  auto other = open_first_device();
  auto foreign = required(other->allocate(kPixels));
  CHECK(camera.refusal_of(0, foreign->argument()).find("another context") != std::string::npos);
  CHECK(camera.refusal_of(5, 60) == "kernel 'camera', argument 'offset': got i32, expected u8");
  const Image image(*camera.device);
  CHECK(camera.refusal_of(0, image.image).find("expected a buffer") != std::string::npos);
  CHECK_FALSE(camera.launch(camera.arguments(), {std::int64_t{1} << 40}).ok());
  CHECK(camera.launch(camera.arguments()).ok());
}
