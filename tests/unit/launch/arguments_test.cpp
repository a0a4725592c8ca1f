// What a launch refuses before the driver sees it.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "agent/launch/kernel_state.hpp"
#include "models/host/pack/pack.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/launch/launch_only_device.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/trial/fake_device.hpp"

using namespace idletune;
using idletune::detail::KernelState;

namespace {

// y[i] = gain * x[i], through local memory of LOCAL halves; y is padded to whole groups.
KernelDescription camera_description() {
  KernelDescription description = test::made_kernel("camera", "source of camera");
  description.dialect = Dialect::opencl;
  description.parameters = {{"LOCAL", ParameterKind::work_group, {16, 64}, 16}};
  description.launch.global = {"round_up(N, LOCAL)"};
  description.launch.local = {"LOCAL"};
  description.launch.local_memory_bytes = "100";
  const auto add = [&](const char* name, ArgumentKind kind, ScalarType type, const char* size) {
    DescribedArgument argument;
    argument.name = name;
    argument.kind = kind;
    argument.type = type;
    argument.access = std::string(name) == "y" ? Access::out : Access::in;
    argument.size = size;
    description.arguments.push_back(argument);
  };
  add("x", ArgumentKind::buffer, ScalarType::u8, "N");
  add("y", ArgumentKind::buffer, ScalarType::f16, "round_up(N, LOCAL)");
  add("gain", ArgumentKind::scalar, ScalarType::f32, "");
  add("rows", ArgumentKind::scalar, ScalarType::u32, "");
  add("n", ArgumentKind::dimension, ScalarType::i32, "N");
  add("tile", ArgumentKind::local, ScalarType::u8, "LOCAL * 2");
  return description;
}

// Remembers what was launched and how large buffers had to be.
class Recorder final : public test::LaunchOnlyDevice {
 public:
  explicit Recorder(std::uint64_t buffer_bytes) : buffer_bytes_(buffer_bytes) {
    info_.backend = "opencl";
    info_.local_memory_bytes = 1 << 15;
  }
  Result<std::unique_ptr<Program>> compile(const CompileRequest&) override {
    return std::unique_ptr<Program>(new RecordingProgram(*this));
  }
  Status check_buffer(const Argument&, std::uint64_t bytes) const override {
    needed.push_back(bytes);
    if (bytes <= buffer_bytes_) return {};
    return Status(StatusCode::invalid_argument, "too small");
  }
  Result<Nanoseconds> elapsed(void*) override {
    return Status(StatusCode::unsupported, "no profiles here");
  }

  mutable std::vector<std::uint64_t> needed;
  std::vector<Argument> launched;

 private:
  struct RecordingProgram final : public test::LaunchOnlyProgram {
    explicit RecordingProgram(Recorder& d) : device(d) {}
    Status enqueue(std::uint32_t, const Range&, Span<const Argument> arguments,
                   const LaunchOptions&, void**) override {
      device.launched.assign(arguments.begin(), arguments.end());
      return {};
    }
    Recorder& device;
  };

  std::uint64_t buffer_bytes_;
};

struct Camera {
  explicit Camera(std::uint64_t buffer_bytes = 1 << 20, std::size_t max_shapes = 8)
      : device(buffer_bytes) {
    auto package = required(KernelPackage::open(required(pack(camera_description())), "camera"));
    kernel = required(KernelState::create(device, package, max_shapes));
  }
  Status launch(const Shape& shape, const std::vector<Argument>& arguments) {
    return kernel->launch({}, shape, Span<const Argument>(arguments));
  }

  Recorder device;
  std::unique_ptr<KernelState> kernel;
  int memory = 0;
  void* buffer = &memory;
};

std::string refusal(const Status& status) {
  CHECK(status.code() == StatusCode::invalid_argument);
  return status.message();
}

}  // namespace

TEST_CASE("an argument of another type is refused by its name") {
  Camera camera;
  void* b = camera.buffer;
  CHECK(camera.launch({100}, {b, b, 1.5f, 3}).ok());
  CHECK(camera.launch({100}, {b, b, 1.5f, 3u}).ok());
  CHECK(refusal(camera.launch({100}, {b, b, 1, 3})) ==
        "kernel 'camera', argument 'gain': got i32, expected f32");
  CHECK(refusal(camera.launch({100}, {b, b, 1.5, 3})) ==
        "kernel 'camera', argument 'gain': got f64, expected f32");
  CHECK(refusal(camera.launch({100}, {b, b, 1.5f, 3.0f})) ==
        "kernel 'camera', argument 'rows': got f32, expected u32");
  CHECK(refusal(camera.launch({100}, {b, b, 1.5f, std::uint16_t{3}})) ==
        "kernel 'camera', argument 'rows': got u16, expected u32");
  CHECK(refusal(camera.launch({100}, {b, 5, 1.5f, 3})) ==
        "kernel 'camera', argument 'y': got i32, expected a buffer");
  CHECK(refusal(camera.launch({100}, {b, b, b, 3})) ==
        "kernel 'camera', argument 'gain': got a buffer, expected f32");
  CHECK(refusal(camera.launch({100}, {b, b, Argument(), 3})) ==
        "kernel 'camera', argument 'gain': got nothing, expected f32");
}

TEST_CASE("sizes of buffers are asked for once per shape and configuration") {
  Camera camera;
  void* b = camera.buffer;
  for (int i = 0; i < 3; ++i) REQUIRE(camera.launch({100}, {b, b, 1.0f, 1}).ok());
  CHECK(camera.device.needed == std::vector<std::uint64_t>{100, 112 * 2});
  REQUIRE(camera.launch({10}, {b, b, 1.0f, 1}).ok());
  CHECK(camera.device.needed.size() == 4);
}

TEST_CASE("what the caller has just seen of buffers is not asked again, what it has not is") {
  Camera camera(1 << 20, 1);
  void* b = camera.buffer;
  REQUIRE(camera.launch({10}, {b, b, 1.0f, 1}).ok());
  const Argument arguments[] = {b, b, 1.0f, 1};
  const auto asked = [&](std::uint64_t x, std::uint64_t y) {
    const std::uint64_t seen[] = {x, y, 0, 0};
    LaunchOptions options;
    options.buffer_bytes = seen;
    camera.device.needed.clear();
    REQUIRE(camera.kernel->launch(options, {100}, arguments).ok());
    return camera.device.needed;
  };
  CHECK(asked(100, 224).empty());
  CHECK(asked(99, 224) == std::vector<std::uint64_t>{100});
  CHECK(asked(100, 223) == std::vector<std::uint64_t>{224});
  CHECK(asked(0, 0) == std::vector<std::uint64_t>{100, 224});
}

TEST_CASE("a buffer that is too small is refused, also where no slot is left") {
  Camera camera(150, 1);
  void* b = camera.buffer;
  REQUIRE(camera.launch({10}, {b, b, 1.0f, 1}).ok());
  CHECK(refusal(camera.launch({100}, {b, b, 1.0f, 1})) ==
        "kernel 'camera', argument 'y': too small");
  CHECK(refusal(camera.launch({100}, {b, b, 1.0f, 1})) ==
        "kernel 'camera', argument 'y': too small");
}

TEST_CASE("a configuration that needs more than the application has gives way to the default") {
  Camera camera(40);
  void* b = camera.buffer;
  REQUIRE(camera.launch({10}, {b, b, 1.0f, 1}).ok());
  auto slot = required(camera.kernel->slot_for(detail::TunerLock::held(), {10}));
  auto larger = required(camera.kernel->build(*slot, {64}, Selection::tuned));
  slot->current = larger.get();
  CHECK(camera.launch({10}, {b, b, 1.0f, 1}).ok());
  CHECK(larger->refused);
  CHECK(camera.device.launched[5].local_bytes() == 32);
}

TEST_CASE("local memory is what the configuration that runs needs") {
  Camera camera;
  void* b = camera.buffer;
  REQUIRE(camera.launch({10}, {b, b, 1.0f, 1}).ok());
  REQUIRE(camera.device.launched.size() == 6);
  CHECK(camera.device.launched[5].kind() == Argument::Kind::local);
  CHECK(camera.device.launched[5].local_bytes() == 32);
  auto slot = required(camera.kernel->slot_for(detail::TunerLock::held(), {10}));
  auto wide = required(camera.kernel->build(*slot, {64}, Selection::tuned));
  slot->current = wide.get();
  REQUIRE(camera.launch({10}, {b, b, 1.0f, 1}).ok());
  CHECK(camera.device.launched[5].local_bytes() == 128);
  CHECK(camera.kernel->package().plan({10}, {64})->first().local_memory_bytes == 228);
}

TEST_CASE("a shape that the kernel's own numbers cannot hold is refused") {
  Camera camera;
  void* b = camera.buffer;
  const Status status = camera.launch({std::int64_t{1} << 40}, {b, b, 1.0f, 1});
  if (sizeof(std::size_t) == 8) {
    CHECK(status.message() ==
          "kernel 'camera': argument 'n': 'N' is 1099511627776, expected at most 2147479552 in an "
          "i32");
  } else {  // where the size of the launch is too large already
    CHECK(status.message().find("is 1099511627776, expected") != std::string::npos);
  }
  CHECK_FALSE(camera.kernel->slot_for(detail::TunerLock::held(), {INT64_MAX / 2}).ok());
}
