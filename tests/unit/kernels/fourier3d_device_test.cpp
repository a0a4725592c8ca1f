// kernels/fourier3d on this machine's OpenCL device against double precision on the host.
#include <limits>

#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

// What one voxel gathers from one image: the weighted complex sum and the weight.
struct Gathered {
  double real = 0, imaginary = 0, weight = 0;
  double magnitude = 0;  // of rounding errors: the pixels that are, or nearly are, in reach
};

void gather(Gathered& sum, std::size_t size, std::size_t image, const double (&place)[3],
            const Inputs& in) {
  for (std::size_t v = 0; v < size; ++v) {
    for (std::size_t u = 0; u < size; ++u) {
      const double du = place[0] - static_cast<double>(u);
      const double dv = place[1] - static_cast<double>(v);
      const double near = 1 - (place[2] * place[2] + du * du + dv * dv) / 4;
      if (near > -0.01) sum.magnitude += 1;
      if (near <= 0) continue;
      const std::size_t at = 2 * ((image * size + v) * size + u);
      sum.real += near * near * in.at("image", at);
      sum.imaginary += near * near * in.at("image", at + 1);
      sum.weight += near * near;
    }
  }
}

Outputs expected_volume(const Shape& shape, const Inputs& in) {
  const auto size = static_cast<std::size_t>(shape[0]);
  const auto images = static_cast<std::size_t>(shape[1]);
  const double middle = 0.5 * static_cast<double>(size - 1);
  Outputs out;
  for (std::size_t voxel = 0; voxel < size * size * size; ++voxel) {
    const double from_middle[3] = {static_cast<double>(voxel % size) - middle,
                                   static_cast<double>(voxel / size % size) - middle,
                                   static_cast<double>(voxel / size / size) - middle};
    Gathered sum;
    for (std::size_t image = 0; image < images; ++image) {
      double place[3] = {middle, middle, 0};
      for (std::size_t k = 0; k < 9; ++k) {
        place[k / 3] += in.at("planes", 9 * image + k) * from_middle[k % 3];
      }
      gather(sum, size, image, place, in);
    }
    // A place is off by some 2^-23 of the size, a weight then by as much.
    const double bound = rounding_bound(static_cast<double>(images), 1 + sum.magnitude) +
                         sum.magnitude * static_cast<double>(size + 4) / (1 << 22);
    out["volume"].add(in.at("volume", 2 * voxel) + sum.real, bound);
    out["volume"].add(in.at("volume", 2 * voxel + 1) + sum.imaginary, bound);
    out["weights"].add(in.at("weights", voxel) + sum.weight, bound);
  }
  return out;
}

// A pixel that is no number in an image that lies straight: it is the voxels' near it alone.
void spoil_a_pixel(const Shape& shape, Inputs& inputs) {
  if (shape[0] != 7) return;
  inputs.buffers["image"][0] = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t k = 0; k < 9; ++k) inputs.buffers["planes"][k] = k % 4 == 0 ? 1.0f : 0.0f;
}

const KernelCheck kFourier3dCheck{"fourier3d",
                                  {{1, 1}, {2, 5}, {7, 33}, {13, 3}, {16, 1}, {9, 150}},
                                  {2, 17},
                                  expected_volume,
                                  {"(int)floor(v) - RADIUS + 1", "(int)floor(v) - RADIUS"},
                                  {},
                                  {},
                                  spoil_a_pixel};

}  // namespace

IDLETUNE_KERNEL_TESTS("fourier3d", kFourier3dCheck)
