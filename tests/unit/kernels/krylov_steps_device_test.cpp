// What the solvers launch beside products, on the first device: each number against the host's in
// double precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/krylov/device_vectors.hpp"
#include "models/core/random.hpp"
#include "tests/unit/krylov/solver_subject.hpp"
#include "tests/unit/repeats.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;
using Numbers = std::vector<double>;

// Vectors of one length, on the device and here; from -1 to 1, and as the precision holds them.
class OwnVectors {
 public:
  OwnVectors(const test::Subject& subject, Precision precision, std::size_t n)
      : kernels_(*subject.device, precision),
        queue_(*subject.queue),
        vectors(kernels_, queue_, n),
        n_(n) {}

  Numbers numbers() {
    Numbers made(n_);
    for (double& value : made) value = static_cast<float>(random_.uniform() * 2 - 1);
    return made;
  }
  std::unique_ptr<Buffer> put(const Numbers& values) {
    auto buffer = vectors.allocate();
    REQUIRE(buffer != nullptr);
    vectors.put(values, *buffer);
    return buffer;
  }
  DeviceVectors::Kept keep(const std::vector<Numbers>& all) {
    DeviceVectors::Kept kept;
    if (test::fewer_repeats()) return write_blocks(all);
    for (std::size_t k = 0; k < all.size(); ++k) vectors.keep(*put(all[k]), kept, k);
    return kept;
  }
  void check(const Buffer& on_device, const Numbers& wanted) {
    Numbers got(n_);
    vectors.get(on_device, got);
    REQUIRE_MESSAGE(vectors.status().ok(), vectors.status().to_string());
    for (std::size_t i = 0; i < n_; ++i) {
      CAPTURE(i);
      REQUIRE(std::fabs(got[i] - wanted[i]) <= 32 * vectors.roundoff());
    }
  }
  void check_sum(double got, const Numbers& x, const Numbers& y) {
    double wanted = 0;
    for (std::size_t i = 0; i < n_; ++i) wanted += x[i] * y[i];
    const auto n = static_cast<double>(n_);
    CHECK(std::fabs(got - wanted) <= 4 * (std::sqrt(n) + 4) * n * vectors.roundoff());
  }

 private:
  // Oclgrind does not see that a copy initialises what it writes.
  DeviceVectors::Kept write_blocks(const std::vector<Numbers>& all) {
    const std::size_t stride = (n_ + 15) / 16 * 16;
    DeviceVectors whole(kernels_, queue_, 8 * stride);
    DeviceVectors::Kept blocks;
    for (std::size_t begin = 0; begin < all.size(); begin += 8) {
      Numbers block(8 * stride);
      for (std::size_t k = begin; k < all.size() && k < begin + 8; ++k)
        std::copy(all[k].begin(), all[k].end(),
                  block.begin() + static_cast<std::ptrdiff_t>((k - begin) * stride));
      blocks.push_back(whole.allocate());
      whole.put(block, *blocks.back());
    }
    REQUIRE_MESSAGE(whole.status().ok(), whole.status().to_string());
    return blocks;
  }

  DeviceKernels kernels_;
  ApplicationQueue& queue_;

 public:
  DeviceVectors vectors;

 private:
  std::size_t n_;
  Random random_{46};
};

void check_kept(OwnVectors& steps) {
  constexpr std::size_t kVectors = 11;  // more than a buffer has
  std::vector<Numbers> all;
  Numbers factors;
  Numbers w = steps.numbers();
  const auto on_device = steps.put(w);
  for (std::size_t k = 0; k < kVectors; ++k) {
    all.push_back(steps.numbers());
    factors.push_back(0.5 - static_cast<double>(k % 3));
  }
  const DeviceVectors::Kept kept = steps.keep(all);
  for (const std::size_t count : {std::size_t{1}, std::size_t{8}, kVectors}) {
    CAPTURE(count);
    Numbers sums(count + 1);
    steps.vectors.dots(kept, *on_device, sums);
    for (std::size_t k = 0; k < count; ++k) steps.check_sum(sums[k], all[k], w);
    steps.check_sum(sums[count], w, w);
  }
  steps.vectors.combine(kept, factors, -0.5, *on_device);
  for (std::size_t i = 0; i < w.size(); ++i) {
    w[i] *= -0.5;
    for (std::size_t k = 0; k < kVectors; ++k) w[i] += factors[k] * all[k][i];
  }
  steps.check(*on_device, w);
}

void check_two(OwnVectors& steps) {
  const Numbers x = steps.numbers();
  Numbers y = steps.numbers();
  const auto x_there = steps.put(x), y_there = steps.put(y), z_there = steps.put(y);
  steps.check_sum(steps.vectors.dot(*x_there, *y_there), x, y);
  double sums[2];
  steps.vectors.dots(*x_there, *y_there, sums);
  steps.check_sum(sums[0], x, y);
  steps.check_sum(sums[1], y, y);
  steps.vectors.pointwise(*x_there, *y_there, *z_there);
  Numbers z(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) z[i] = x[i] * y[i];
  steps.check(*z_there, z);
  steps.vectors.axpby(0.75, *x_there, -1.5, *y_there);
  steps.vectors.scale(0.25, *y_there);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 0.25 * (0.75 * x[i] - 1.5 * y[i]);
  steps.check(*y_there, y);
}

void check_cg_step(OwnVectors& steps, bool preconditioned) {
  const Numbers d = steps.numbers(), q = steps.numbers();
  Numbers x = steps.numbers(), r = steps.numbers(), p = steps.numbers(), z = r;
  const auto d_there = steps.put(d), q_there = steps.put(q);
  const auto x_there = steps.put(x), r_there = steps.put(r), p_there = steps.put(p);
  const auto parts = steps.vectors.allocate_pairs(steps.vectors.step_parts());
  REQUIRE(parts != nullptr);
  steps.vectors.cg_step(0.75, -0.5, preconditioned ? d_there.get() : nullptr, *q_there, *x_there,
                        *r_there, *p_there, *parts);
  double sums[4];
  steps.vectors.add_pairs(*parts, steps.vectors.step_parts(), 0, sums);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] += 0.75 * p[i];
    r[i] -= 0.75 * q[i];
    z[i] = preconditioned ? d[i] * r[i] : r[i];
    p[i] = z[i] - 0.5 * p[i];
  }
  steps.check(*x_there, x);
  steps.check(*r_there, r);
  steps.check(*p_there, p);
  steps.check_sum(sums[0], r, r);
  steps.check_sum(sums[1], r, z);
}

void check_lengths(const std::vector<std::size_t>& lengths) {
  const test::Subject subject = test::open_subject();
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    for (const std::size_t n : lengths) {
      CAPTURE(n);
      OwnVectors steps(subject, precision, n);
      check_kept(steps);
      check_two(steps);
      check_cg_step(steps, false);
      check_cg_step(steps, true);
    }
  }
}

}  // namespace

TEST_CASE("every parameter value of krylov_steps is right for a tiny shape") {
  check_lengths({1, 3, 37, 4100});
}

TEST_CASE(
    "what the solvers launch beside products is right, however many numbers a group adds up") {
  check_lengths({1, 2, 5, 64, 255, 4096, 4097, 70001});
}
