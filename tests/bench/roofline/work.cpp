#include "tests/bench/roofline/work.hpp"

#include <array>
#include <string>

#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

// Dimensions as the kernel's description orders them.
using Dimensions = std::array<double, kMaxDimensions>;

struct Operations {
  std::string_view kernel;
  double (*count)(const Dimensions& d);
};

constexpr Operations kOperations[] = {
    {"bicg", [](const Dimensions& d) { return 4 * d[0] * d[1]; }},
    {"cavity_block", [](const Dimensions& d) { return 24 * d[0] * d[1]; }},
    {"conv2d", [](const Dimensions& d) { return 2 * 49 * d[0] * d[1]; }},
    {"conv2d_block", [](const Dimensions& d) { return 2 * 9 * d[0] * d[1]; }},
    {"conv3d_block", [](const Dimensions& d) { return 2 * 27 * d[0] * d[1] * d[2]; }},
    // Per atom and point: three differences, their squares' sum, a root, a quotient, a sum.
    {"coulomb3d", [](const Dimensions& d) { return 11 * d[0] * d[1] * d[2] * d[3]; }},
    // The place of every voxel in every image; the pixels near it depend on the planes and are not
    // counted.
    {"fourier3d", [](const Dimensions& d) { return 15 * d[0] * d[0] * d[0] * d[1]; }},
    {"gemm", [](const Dimensions& d) { return (2 * d[2] + 3) * d[0] * d[1]; }},
    {"gemm_batched", [](const Dimensions& d) { return 2 * d[0] * d[1] * d[2] * d[3]; }},
    {"gemm_block", [](const Dimensions& d) { return (2 * d[2] + 3) * d[0] * d[1]; }},
    {"gesummv_block", [](const Dimensions& d) { return (4 * d[0] + 3) * d[0]; }},
    {"hotspot", [](const Dimensions& d) { return 4 * 15 * d[0] * d[1]; }},  // four time steps
    {"mvt_block", [](const Dimensions& d) { return 4 * d[0] * d[0]; }},
    // Per pair: three differences, their squares' sum, a root, a product, a quotient, three sums.
    {"nbody", [](const Dimensions& d) { return 18 * d[0] * d[0]; }},
    {"reduction", [](const Dimensions& d) { return d[0] * d[1]; }},
    {"stencil27_block", [](const Dimensions& d) { return 27 * d[0] * d[1] * d[2]; }},
    {"syr2k_block", [](const Dimensions& d) { return (4 * d[1] + 3) * d[0] * d[0]; }},
    {"syrk_block", [](const Dimensions& d) { return (2 * d[1] + 3) * d[0] * d[0]; }},
    {"transpose", [](const Dimensions&) { return 0.0; }},
};

double buffer_bytes(const KernelPackage& package, std::size_t argument, const Shape& shape,
                    const Configuration& configuration) {
  const std::uint64_t elements = required(package.buffer_elements(argument, shape, configuration));
  return static_cast<double>(elements * scalar_size_bytes(package.argument(argument).type));
}

}  // namespace

double operations(std::string_view kernel, const Shape& shape) {
  Dimensions dimensions{};
  for (std::size_t i = 0; i < shape.size(); ++i) dimensions[i] = static_cast<double>(shape[i]);
  for (const Operations& entry : kOperations) {
    if (entry.kernel == kernel) return entry.count(dimensions);
  }
  return -1;
}

double compulsory_bytes(const KernelPackage& package, const Shape& shape,
                        const Configuration& configuration) {
  double sum = 0;
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentSpec& argument = package.argument(i);
    if (argument.kind != ArgumentKind::buffer) continue;
    const double crossings = argument.access == Access::inout ? 2 : 1;
    sum += crossings * buffer_bytes(package, i, shape, configuration);
  }
  return sum;
}

double footprint_bytes(const KernelPackage& package, const Shape& shape,
                       const Configuration& configuration) {
  double sum = 0;
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    if (package.argument(i).kind != ArgumentKind::buffer) continue;
    sum += buffer_bytes(package, i, shape, configuration);
  }
  return sum;
}

}  // namespace idletune::bench
