// What the solvers launch themselves, at the most rows: vectors, and the one format whose indices
// need no memory by rows. The packages of the others run in huge_sizes_test.cpp.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>

#include "kernels/krylov/device_matrix.hpp"
#include "kernels/krylov/device_vectors.hpp"
#include "tests/device_queue.hpp"
#include "tests/unit/kernels/corner_device.hpp"
#include "tests/unit/kernels/kernel_run.hpp"

using namespace idletune;
using namespace idletune::krylov;

namespace {

constexpr std::int32_t kRows = test::kMost;

class CornerQueue final : public test::DeviceQueue {
 public:
  using DeviceQueue::DeviceQueue;
  Status write(Buffer& to, std::size_t offset, Bytes data) override {
    return data.empty() ? Status() : DeviceQueue::write(to, offset, data);
  }
  Status copy(const Buffer&, std::size_t, Buffer&, std::size_t, std::size_t) override { return {}; }
};

// Whether the last number of `buffer`, which was 7 before, became `value`.
template <class T>
bool ends_with(const Buffer& buffer, T value) {
  T last{};
  std::memcpy(&last, test::memory_of(buffer.argument()) + buffer.size_bytes() - sizeof last,
              sizeof last);
  return last == value;
}
template <class T>
void end_with(const Buffer& buffer, T value) {
  std::memcpy(test::memory_of(buffer.argument()) + buffer.size_bytes() - sizeof value, &value,
              sizeof value);
}

template <class T>
void check_vectors(Device& device, Precision precision) {
  CornerQueue queue(device);
  DeviceKernels kernels(device, precision);
  DeviceVectors vectors(kernels, queue, kRows);
  const auto x = vectors.allocate(), y = vectors.allocate(), z = vectors.allocate();
  const auto p = vectors.allocate(), parts = vectors.allocate_pairs(vectors.step_parts());
  REQUIRE_MESSAGE(vectors.status().ok(), vectors.status().to_string());
  for (const auto* vector : {&x, &y, &z, &p}) end_with<T>(**vector, 7);
  vectors.axpby(2, *x, 3, *y);
  vectors.pointwise(*x, *x, *z);
  CHECK(ends_with<T>(*y, 35));
  CHECK(ends_with<T>(*z, 49));
  const Buffer* const diagonals[] = {nullptr, x.get()};
  for (const Buffer* diagonal : diagonals) {
    end_with<T>(*y, 5);
    end_with<T>(*parts, 5);
    vectors.cg_step(2, 0, diagonal, *x, *z, *y, *p, *parts);
    CHECK(ends_with<T>(*y, 5 - 14));
    CHECK_FALSE(ends_with<T>(*parts, 5));
  }
  CHECK_MESSAGE(vectors.status().ok(), vectors.status().to_string());
  (void)vectors.dot(*x, *x);
  CHECK_MESSAGE(vectors.status().ok(), vectors.status().to_string());
}

template <class T>
void check_diagonals(Device& device, Precision precision) {
  CornerQueue queue(device);
  DeviceKernels kernels(device, precision);
  DeviceVectors vectors(kernels, queue, kRows);
  StoredPattern stored;
  stored.format = SparseFormat::dia;
  stored.rows = stored.columns = stored.slots = kRows;
  stored.width = 1;
  stored.offset = {0};
  DeviceMatrix matrix(queue, std::move(stored), sizeof(T));
  REQUIRE(matrix.upload({}).ok());  // zeros
  const auto x = vectors.allocate(), y = vectors.allocate();
  for (const KernelVariant variant :
       {KernelVariant{0, 64}, {0, 256}, {1, 64}, {2, 64}, {8, 128}, {32, 64}, {32, 256}}) {
    CAPTURE(variant.kind);
    end_with<T>(*y, 7);
    Status status = matrix.multiply(kernels, variant, *x, *y);
    CHECK_MESSAGE(status.ok(), status.to_string());
    CHECK(ends_with<T>(*y, 0));
    const auto parts = vectors.allocate_pairs(matrix.groups(variant) + 3);
    FusedProduct fused;
    fused.diagonal = x.get();
    fused.parts = parts.get();
    fused.first_part = 3;
    end_with<T>(*parts, 7);
    status = matrix.multiply(kernels, variant, *x, *y, &fused);
    CHECK_MESSAGE(status.ok(), status.to_string());
    CHECK(ends_with<T>(*parts, 0));
  }
}

}  // namespace

TEST_CASE("the solvers' own launches stay inside their vectors at the most rows") {
  test::CornerOptions corners;
  corners.milliseconds = 30000;  // an item of an inner product has 32,768 numbers
  const auto device = test::open_corner_device(test::limits_of("opencl"), corners);
  check_vectors<float>(*device, Precision::f32);
  check_vectors<double>(*device, Precision::f64);
}

TEST_CASE("products by diagonals stay inside at the most rows, fused ones too") {
  const auto device = test::open_corner_device(test::limits_of("opencl"), {});
  check_diagonals<float>(*device, Precision::f32);
  check_diagonals<double>(*device, Precision::f64);
}
