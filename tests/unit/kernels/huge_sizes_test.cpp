// Every kernel of ours at the largest sizes: at 2^31 + 1 along each dimension it is refused by name
// before anything runs, and at the largest size that is not refused no index is out of range. The
// same for buffers of 2^31 elements and more. Both back ends: they differ by the groups of a
// launch.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "agent/trial/limits.hpp"
#include "agent/trial/step_programs.hpp"
#include "agent/trial/tuning_data.hpp"
#include "models/core/random.hpp"
#include "tests/paths.hpp"
#include "tests/unit/kernels/corner_device.hpp"
#include "tests/unit/kernels/kernel_path.hpp"
#include "tests/unit/kernels/kernel_run.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/repeats.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

using namespace idletune;
using namespace idletune::kernel_tests;
using test::kBeyond;
using test::kMost;
using test::limits_of;

namespace {

std::vector<std::string> all_packages() {
  std::vector<std::string> found;
  const std::string root = IDLETUNE_SOURCE_FOLDER "/kernels/";
  for (const std::string& folder : {root, root + "blas/"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      const std::string xml = folder + name + "/" + name + ".xml";
      if (std::filesystem::exists(xml)) found.push_back(xml);
    }
  }
  for (const char* folder : {"krylov/spmv", "krylov/vectors"}) {
    for (const auto& entry : std::filesystem::directory_iterator(root + folder)) {
      if (entry.path().extension() == ".xml") found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

Shape shape_of(const KernelPackage& package, std::size_t dimension, std::int64_t value,
               std::int64_t others) {
  Shape shape;
  for (std::size_t i = 0; i < package.dimension_count(); ++i) {
    shape.push_back(i == dimension ? value : others);
  }
  for (std::size_t i = 0; i < package.inputs().given_feature_count(); ++i) shape.push_feature(1);
  return package.inputs().with_features(shape);
}

// As a launch would be planned, its arguments included.
Status planned(const DeviceInfo& info, const KernelPackage& package, const Shape& shape,
               const Configuration& configuration) {
  const auto plan = trial::admitted_plan(info, package, QuirkTable(), shape, configuration, false);
  if (!plan.ok()) return plan.status();
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentKind kind = package.argument(i).kind;
    if (is_memory(kind)) {
      const auto bytes = package.buffer_bytes(i, shape, configuration);
      if (!bytes.ok()) return bytes.status();
    } else if (kind != ArgumentKind::scalar) {
      const auto value = trial::derived_argument(package, i, shape, configuration);
      if (!value.ok()) return value.status();
    }
  }
  return {};
}

constexpr unsigned char kUntouched = 0x5a;
constexpr std::size_t kFilled = 64 << 10;  // bytes at both ends of each buffer

// What tuning puts there, at both ends; outputs are what nobody computes.
void fill_ends(const KernelPackage& package, std::size_t argument, const Shape& shape,
               std::uint64_t bytes, unsigned char* memory) {
  const ArgumentSpec spec = trial::fill_at(package, argument, shape, bytes);
  const std::uint64_t size = std::min<std::uint64_t>(bytes, kFilled);
  for (const std::uint64_t first : {std::uint64_t{0}, bytes - size}) {
    if (spec.access == Access::out) {
      std::memset(memory + first, kUntouched, size);
    } else {
      trial::fill_elements(spec, static_cast<std::uint32_t>(argument), 1,
                           first / scalar_size_bytes(spec.type), {memory + first, size});
    }
  }
}

// Runs what is planned; says what is wrong, and nothing where all is well.
std::string run_corners(Device& device, const KernelPackage& package,
                        const trial::StepPrograms& programs, Span<const PlannedStep> steps,
                        const Shape& shape, const Configuration& configuration) {
  std::vector<std::unique_ptr<Buffer>> buffers(package.argument_count());
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentSpec& spec = package.argument(i);
    if (is_memory(spec.kind)) {
      const std::uint64_t bytes = *package.buffer_bytes(i, shape, configuration);
      auto buffer = device.allocate(bytes);
      if (!buffer.ok()) return buffer.status().to_string();
      arguments.push_back((*buffer)->argument());
      fill_ends(package, i, shape, bytes, test::memory_of(arguments.back()));
      buffers[i] = std::move(*buffer);
    } else if (spec.kind == ArgumentKind::scalar) {
      arguments.push_back(trial::scalar_value(spec, static_cast<std::uint32_t>(i), 1));
    } else {
      arguments.push_back(*trial::derived_argument(package, i, shape, configuration));
    }
  }
  const auto times = trial::run_steps(device, programs, steps, {arguments.data(), arguments.size()},
                                      Nanoseconds(0));
  if (!times.ok()) return times.status().to_string();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const ArgumentSpec& spec = package.argument(i);
    if (buffers[i] == nullptr || spec.access != Access::out || is_own_memory(spec.kind)) continue;
    const std::size_t size = scalar_size_bytes(spec.type);
    const unsigned char* last = test::memory_of(arguments[i]) + buffers[i]->size_bytes() - size;
    if (std::all_of(last, last + size, [](unsigned char byte) { return byte == kUntouched; })) {
      return "nobody writes the last element of '" + std::string(spec.name) + "'";
    }
  }
  return {};
}

std::string to_text(const Shape& shape) {
  std::string text;
  for (std::int64_t value : shape.values()) text += " " + std::to_string(value);
  return text;
}

// The largest value of the dimension that is planned, others being 1; kBeyond at most.
std::int64_t largest(const DeviceInfo& info, const KernelPackage& package, std::size_t dimension,
                     const Configuration& configuration) {
  std::int64_t low = 1, high = kBeyond + 1;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    const Shape shape = shape_of(package, dimension, middle, 1);
    (planned(info, package, shape, configuration).ok() ? low : high) = middle;
  }
  return low;
}

// One dimension as large as may be, one large enough for a square, or two for a rectangle of 2^31.
std::vector<Shape> large_shapes(const DeviceInfo& info, const KernelPackage& package,
                                const Configuration& configuration) {
  std::vector<Shape> shapes;
  for (std::size_t d = 0; d < package.dimension_count(); ++d) {
    const std::int64_t low = largest(info, package, d, configuration);
    shapes.push_back(shape_of(package, d, low, 1));
    if (low > 65537) shapes.push_back(shape_of(package, d, 65537, 1));
    for (std::size_t e = 0; e < d; ++e) {
      Shape shape;
      for (std::size_t i = 0; i < package.dimension_count(); ++i) {
        shape.push_back(i == e ? 65537 : i == d ? 32769 : 1);
      }
      for (std::size_t i = 0; i < package.inputs().given_feature_count(); ++i)
        shape.push_feature(1);
      shapes.push_back(package.inputs().with_features(shape));
    }
  }
  return shapes;
}

struct Counts {
  int ended = 0;
  int long_loops = 0;
  bool any_last = false;  // who writes the last element need not have run
};

void check_run(Device& device, const KernelPackage& package, const trial::StepPrograms& programs,
               Span<const PlannedStep> steps, const Shape& shape,
               const Configuration& configuration, Counts& counts) {
  const std::string wrong = run_corners(device, package, programs, steps, shape, configuration);
  const bool is_long = wrong.rfind("timeout", 0) == 0;
  // Squares of 2^30 a side: no addresses for them either.
  const bool no_room = wrong.rfind("out_of_memory", 0) == 0;
  ++(is_long || no_room ? counts.long_loops : counts.ended);
  if (is_long || no_room) return;
  CAPTURE(to_text(shape));
  if (counts.any_last && wrong.rfind("nobody", 0) == 0) return;
  CHECK(wrong == "");
}

void check_configuration(Device& device, const KernelPackage& package,
                         const Configuration& configuration, Counts& counts) {
  CAPTURE(idletune::to_text(package.space(), configuration));
  const auto programs = required(trial::compile_steps(device, package, configuration));
  for (const Shape& shape : large_shapes(device.info(), package, configuration)) {
    const auto plan = package.plan(shape, configuration);
    if (!plan.ok()) continue;
    check_run(device, package, programs, plan->steps(), shape, configuration, counts);
  }
}

void check_reference(Device& device, const KernelPackage& package, Counts& counts) {
  const Configuration& configuration = package.reference().configuration();
  const auto programs = required(trial::compile_reference(device, package));
  for (const Shape& shape : large_shapes(device.info(), package, package.default_configuration())) {
    const auto plan = package.reference().plan(shape);
    if (!plan.ok()) continue;
    check_run(device, package, programs, plan->steps(), shape, configuration, counts);
  }
}

}  // namespace

// IDLETUNE_CORNER_CONFIGURATIONS: so many random ones besides, of both precisions.
// IDLETUNE_CORNER_SECONDS: also launches with long loops, for two work items each.
TEST_CASE("no kernel touches anything outside its buffers at sizes that are not refused") {
  const std::uint64_t more = test::number_from_environment("IDLETUNE_CORNER_CONFIGURATIONS", 0);
  const auto seconds =
      static_cast<std::uint32_t>(test::number_from_environment("IDLETUNE_CORNER_SECONDS", 0));
  const char* only = std::getenv("IDLETUNE_CORNER_KERNEL");
  const auto device = test::open_corner_device(limits_of("opencl"),
                                               {seconds != 0 ? 1000 * seconds : 100, seconds != 0});
  if (device->allocate(std::size_t{1} << 40).status().code() == StatusCode::out_of_memory) {
    test::skip("this process may not reserve a terabyte of addresses");
    return;
  }
  Counts counts;
  counts.any_last = seconds != 0 || more != 0;
  for (const std::string& xml : all_packages()) {
    if (more == 0 && xml.find("_double.xml") != std::string::npos) continue;
    if (only != nullptr && xml.find(only) == std::string::npos) continue;
    CAPTURE(xml);
    const auto package = open_package(xml);
    check_reference(*device, *package, counts);
    check_configuration(*device, *package, package->default_configuration(), counts);
    Random random(20261124);
    for (std::uint32_t i = 0; i < more; ++i) {
      check_configuration(*device, *package, package->space().sample(random), counts);
    }
  }
  MESSAGE("figure: " << counts.ended << " launches ended, " << counts.long_loops
                     << " with long loops or more than all addresses did not");
  if (only == nullptr) CHECK(counts.ended > 2 * counts.long_loops);
}

// In a hundredth of a second no device adds up that many.
TEST_CASE("the reference of a rank-2k update adds up 2^31 terms, not none") {
  const auto device = test::open_corner_device(limits_of("opencl"), {10, false});
  const auto package = open_package(test::kernel_path("syr2k_block"));
  const auto programs = required(trial::compile_reference(*device, *package));
  const Shape shape{1, std::int64_t{1} << 30};
  const auto plan = required(package->reference().plan(shape));
  const std::string ended = run_corners(*device, *package, programs, plan.steps(), shape,
                                        package->reference().configuration());
  CHECK(ended.rfind("timeout", 0) == 0);
}

TEST_CASE("products with several work items per row stay inside at the most rows") {
  const auto device = test::open_corner_device(limits_of("opencl"), {});
  Counts counts;
  for (const std::string& xml : all_packages()) {
    if (xml.find("/spmv/") == std::string::npos || xml.find("_double") != std::string::npos)
      continue;
    const auto package = open_package(xml);
    const Space& space = package->space();
    Configuration configuration = package->default_configuration();
    for (std::size_t i = 0; i < space.parameter_count(); ++i) {
      if (space.parameter_name(i) == "LANES") configuration[i] = 32;
    }
    if (configuration == package->default_configuration()) continue;
    CAPTURE(xml);
    REQUIRE(space.contains(configuration));
    check_configuration(*device, *package, configuration, counts);
  }
  CHECK(counts.ended > 0);
}

TEST_CASE("defaults reach as far as the table of sizes says") {
  const struct {
    const char* kernel;
    std::size_t dimension;
    std::int64_t on_cuda, on_opencl;
  } rows[] = {{"gemm", 0, 2097120, kMost},       {"gemm_adaptive", 0, 2097120, kMost},
              {"gemm_batched", 0, 65535, kMost}, {"conv2d", 0, 524280, kMost},
              {"hotspot", 0, 524280, kMost},     {"transpose", 0, 524280, kMost},
              {"gemm_block", 0, 524280, kMost},  {"bicg", 0, 262140, 536870908},
              {"reduction", 0, 65535, kMost},    {"row_sums", 0, 65535, kMost},
              {"conv3d_block", 0, 65535, kMost}, {"coulomb3d", 0, 65535, kMost},
              {"gemm", 1, kMost, kMost},         {"nbody", 0, 536866816, 536866816},
              {"histogram", 0, kMost, kMost},    {"transpose", 1, kMost, kMost}};
  for (const auto& row : rows) {
    CAPTURE(row.kernel);
    const std::string name(row.kernel);
    const auto package = open_package(test::kernel_path(name));
    const Configuration& configuration = package->default_configuration();
    CHECK(largest(limits_of("cuda"), *package, row.dimension, configuration) == row.on_cuda);
    CHECK(largest(limits_of("opencl"), *package, row.dimension, configuration) == row.on_opencl);
  }
}

TEST_CASE("beyond 2^31 every dimension that a kernel counts by is refused by name") {
  for (const std::string& xml : all_packages()) {
    const auto package = open_package(xml);
    const Configuration& configuration = package->default_configuration();
    for (std::size_t d = 0; d < package->dimension_count(); ++d) {
      const std::string name(package->inputs().dimension_name(d));
      for (const char* backend : {"opencl", "cuda"}) {
        CAPTURE(xml);
        CAPTURE(name);
        CAPTURE(backend);
        const Status status =
            planned(limits_of(backend), *package, shape_of(*package, d, kBeyond, 1), configuration);
        // What no kernel counts by is only the length of a buffer, or part of a tolerance.
        const bool only_length =
            name == "COLUMNS" || name == "ENTRIES" || name == "LONGEST" || name == "BINS";
        if (status.ok()) {
          CHECK(only_length);
        } else {
          CHECK(status.code() == StatusCode::unsupported);
          CHECK((status.message().find(name) != std::string::npos ||
                 status.message().find("number of groups") != std::string::npos));
        }
      }
    }
  }
}

TEST_CASE("the device of the corners finds an index that is out of range by one") {
  const auto device = test::open_corner_device(limits_of("opencl"), {});
  const auto run_at = [&](const char* index) {
    const std::string source =
        "KERNEL void copy(const int n, GLOBAL float* out) {\n"
        "  const int i = GLOBAL_ID(0);\n  if (i < n) out[";
    KernelDescription kernel = test::made_kernel("copy", source + index + "] = 1;\n}\n");
    kernel.dialect = Dialect::portable;
    kernel.parameters = {{"WG", ParameterKind::work_group, {64}, 64}};
    kernel.launch.global = {"round_up(N, 64)"};
    kernel.launch.local = {"WG"};
    kernel.arguments = {test::made_dimension("n", "N"), test::made_buffer("out", "N", Access::out)};
    const auto package = required(KernelPackage::open(required(pack(kernel)), "copy"));
    const Configuration& only = package->default_configuration();
    const auto programs = required(trial::compile_steps(*device, *package, only));
    const Shape shape = {2147479548};
    const auto plan = package->plan(shape, only);
    return run_corners(*device, *package, programs, plan->steps(), shape, only);
  };
  CHECK(run_at("i") == "");
  CHECK(run_at("i + 1") ==
        "device_error: group 33554367 0 0 touches byte 8589918192 of argument 1");
  CHECK(run_at("i - 4096").find("touches byte -") != std::string::npos);
  CHECK(run_at("4 * i / 4").find("touches byte -") != std::string::npos);
  CHECK(run_at("i / 2") == "nobody writes the last element of 'out'");
}
