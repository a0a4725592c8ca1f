// GMRES with restarts, preconditioned from the right (Saad and Schultz 1986; Saad 2003, algorithm
// 9.5). Vectors are made orthogonal by classical Gram-Schmidt, whose inner products take one wait, and
// once more where that left little of them (Saad 2003, section 6.3.2).
#include <algorithm>
#include <cmath>

#include "kernels/krylov/iterations.hpp"

namespace idletune::krylov {

struct Iterations::Basis {
  explicit Basis(std::size_t restart)
      : size(restart),
        h((restart + 1) * restart),
        c(restart),
        s(restart),
        g(restart + 1),
        sums(restart + 1) {}
  double& at(std::size_t row, std::size_t column) { return h[column * (size + 1) + row]; }

  std::size_t size;
  DeviceVectors::Kept v;                          // [size]
  std::unique_ptr<Buffer> current, next;          // the last of v; A M times it
  std::unique_ptr<Buffer> preconditioned, total;  // null without a preconditioner
  std::vector<double> h, c, s, g;  // Hessenberg's matrix by columns; rotations; right-hand side
  std::vector<double> sums;
  std::size_t columns = 0;  // done in this cycle
  double lost = 0;          // in this cycle: the largest inner product of two of v, estimated
};

namespace {

constexpr double kNothing = 10;  // of the rounding of a sum: what is no longer than that is noise
constexpr double kEnough = 0.1;  // of a vector's square: if as much is left, its length is known
constexpr double kMostLost = 1e-4;  // of being orthogonal: A V = V H holds whatever was lost
constexpr double kWorse = 2;        // what a cycle may add to the residual by rounding, as a factor

struct Rotation {
  double c;
  double s;
};

Rotation rotation_of(double above, double below) {
  const double length = std::hypot(above, below);
  return length > 0 ? Rotation{above / length, below / length} : Rotation{1, 0};
}

}  // namespace

// Makes `next` orthogonal to the first `count` vectors, and of length 1 where it is more than noise.
Iterations::Length Iterations::orthogonalise(Basis& basis, std::size_t count) {
  double* const h = &basis.at(0, count - 1);
  std::fill_n(h, count, 0.0);
  Length length;
  for (const bool again : {false, true}) {
    vectors_.dots(basis.v, *basis.next, {basis.sums.data(), count + 1});
    const double square = basis.sums[count];
    if (!again) length.noise = kNothing * vectors_.roundoff() * std::sqrt(square);
    double left = square, lost = vectors_.roundoff() * std::sqrt(square);
    for (std::size_t i = 0; i < count; ++i) {
      h[i] += basis.sums[i];
      lost += basis.lost * std::fabs(basis.sums[i]);
      left -= basis.sums[i] * basis.sums[i];
    }
    if (!std::isfinite(left)) return {left, left};
    length.value = std::sqrt(std::fmax(0, left));
    // What two vectors have in common the next one has of both, more so the less of it is left.
    lost /= length.value;
    const bool enough = again || (left > kEnough * square && lost <= kMostLost);
    if (enough && !again) basis.lost = std::fmax(basis.lost, lost);
    const double factor = enough && length.value > length.noise ? 1 / length.value : 1;
    for (std::size_t i = 0; i < count; ++i) basis.sums[i] *= -factor;
    vectors_.combine(basis.v, {basis.sums.data(), count}, factor, *basis.next);
    if (enough) break;
  }
  return length;
}

// One cycle from the normalised `current`; true where the method has ended.
bool Iterations::cycle(Basis& basis, double norm) {
  std::fill(basis.g.begin(), basis.g.end(), 0.0);
  basis.g[0] = norm;
  for (std::size_t j = 0; j < basis.size; ++j) {
    vectors_.keep(*basis.current, basis.v, j);
    multiply(preconditioned(*basis.current, basis.preconditioned), *basis.next);
    if (!status().ok()) return true;
    const auto [length, noise] = orthogonalise(basis, j + 1);
    if (!status().ok()) return true;
    ++report_.iterations;
    if (!std::isfinite(length)) return end(Ended::overflow, "a vector's length is not finite");
    basis.at(j + 1, j) = length;
    for (std::size_t i = 0; i < j; ++i) {
      const double above = basis.at(i, j);
      const double below = basis.at(i + 1, j);
      basis.at(i, j) = basis.c[i] * above + basis.s[i] * below;
      basis.at(i + 1, j) = basis.c[i] * below - basis.s[i] * above;
    }
    const Rotation rotation = rotation_of(basis.at(j, j), length);
    if (std::hypot(basis.at(j, j), length) <= noise) {
      return end(Ended::breakdown, "the matrix is singular on the vectors found");
    }
    basis.c[j] = rotation.c;
    basis.s[j] = rotation.s;
    basis.at(j, j) = rotation.c * basis.at(j, j) + rotation.s * length;
    basis.g[j + 1] = -rotation.s * basis.g[j];
    basis.g[j] *= rotation.c;
    basis.columns = j + 1;
    if (done(std::fabs(basis.g[j + 1]))) return true;
    if (length <= noise) return false;  // exact in exact arithmetic: begin anew and see
    std::swap(basis.current, basis.next);
  }
  return false;
}

// x = M total, where total has become larger by V y with H y = g.
void Iterations::add_solution(Basis& basis, Buffer& total, Buffer& x) {
  const std::size_t columns = basis.columns;
  if (columns == 0 || !status().ok()) return;
  std::vector<double> y(columns);
  for (std::size_t i = columns; i-- > 0;) {
    y[i] = basis.g[i];
    for (std::size_t k = i + 1; k < columns; ++k) y[i] -= basis.at(i, k) * y[k];
    y[i] /= basis.at(i, i);
    if (!std::isfinite(y[i])) return;  // x stays as it is
  }
  vectors_.combine(basis.v, {y.data(), columns}, 1, total);
  if (diagonal_ != nullptr) vectors_.pointwise(*diagonal_, total, x);
}

Status Iterations::gmres(const Buffer& b, Buffer& x) {
  Basis basis(options_.restart);
  basis.current = vectors_.allocate();
  basis.next = vectors_.allocate();
  if (diagonal_ != nullptr) {
    basis.preconditioned = vectors_.allocate();
    basis.total = vectors_.allocate();
  }
  const auto nearest = vectors_.allocate();
  if (!status().ok()) return status();
  Buffer& total = diagonal_ != nullptr ? *basis.total : x;
  if (diagonal_ != nullptr) vectors_.copy(x, total);  // zeros
  vectors_.copy(b, *basis.current);
  double norm = std::sqrt(vectors_.dot(*basis.current, *basis.current));
  bool ended = done(norm);
  while (!ended && status().ok()) {
    vectors_.scale(1 / norm, *basis.current);
    basis.columns = 0;
    basis.lost = 0;
    ended = cycle(basis, norm);
    vectors_.copy(x, *nearest);
    add_solution(basis, total, x);
    if (ended) break;
    const double before = norm;
    residual(b, x, *basis.current);
    norm = std::sqrt(vectors_.dot(*basis.current, *basis.current));
    if (norm > kWorse * before) {
      vectors_.copy(*nearest, x);
      ended = end(Ended::breakdown, "the vectors found are too close to bring x nearer");
    }
    if (norm <= options_.tolerance * norm_of_b_ || !std::isfinite(norm)) ended = done(norm);
  }
  return status();
}

}  // namespace idletune::krylov
