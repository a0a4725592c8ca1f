// GMRES with restarts, preconditioned from the right (Saad and Schultz 1986; Saad 2003, algorithm
// 9.5), orthogonal by modified Gram-Schmidt.
#include <algorithm>
#include <cmath>

#include "kernels/krylov/iterations.hpp"

namespace idletune::krylov {

struct Iterations::Basis {
  explicit Basis(std::size_t restart)
      : size(restart), h((restart + 1) * restart), c(restart), s(restart), g(restart + 1) {}
  double& at(std::size_t row, std::size_t column) { return h[column * (size + 1) + row]; }

  std::size_t size;
  std::vector<std::unique_ptr<Buffer>> v;  // [size + 1], as far as needed
  std::unique_ptr<Buffer> z;
  std::vector<double> h, c, s, g;  // Hessenberg's matrix by columns; rotations; right-hand side
  std::size_t columns = 0;         // done in this cycle
};

namespace {

constexpr double kNothing = 10;  // of the rounding of a sum: what is no longer than that is noise
constexpr double kWorse = 2;     // what a cycle may add to the residual by rounding, as a factor

struct Rotation {
  double c;
  double s;
};

Rotation rotation_of(double above, double below) {
  const double length = std::hypot(above, below);
  return length > 0 ? Rotation{above / length, below / length} : Rotation{1, 0};
}

}  // namespace

// One cycle from the normalised v[0]; true where the method has ended.
bool Iterations::cycle(Basis& basis, double norm) {
  std::fill(basis.g.begin(), basis.g.end(), 0.0);
  basis.g[0] = norm;
  for (std::size_t j = 0; j < basis.size; ++j) {
    if (basis.v.size() == j + 1) basis.v.push_back(vectors_.allocate());
    if (!status().ok()) return true;
    precondition(*basis.v[j], *basis.z);
    multiply(*basis.z, *basis.v[j + 1]);
    for (std::size_t i = 0; i <= j; ++i) {
      basis.at(i, j) = vectors_.dot(*basis.v[j + 1], *basis.v[i]);
      vectors_.axpby(-basis.at(i, j), *basis.v[i], 1, *basis.v[j + 1]);
    }
    const double length = std::sqrt(vectors_.dot(*basis.v[j + 1], *basis.v[j + 1]));
    if (!status().ok()) return true;
    ++report_.iterations;
    if (!std::isfinite(length)) return end(Ended::overflow, "a vector's length is not finite");
    basis.at(j + 1, j) = length;
    double before = length;  // of the vector before it was made orthogonal
    for (std::size_t i = 0; i <= j; ++i) before = std::hypot(before, basis.at(i, j));
    const double noise = kNothing * vectors_.roundoff() * before;
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
    vectors_.axpby(0, *basis.v[j], 1 / length, *basis.v[j + 1]);
  }
  return false;
}

// x += M V y with H y = g.
void Iterations::add_solution(Basis& basis, std::size_t columns, Buffer& x) {
  if (columns == 0 || !status().ok()) return;
  std::vector<double> y(columns);
  for (std::size_t i = columns; i-- > 0;) {
    y[i] = basis.g[i];
    for (std::size_t k = i + 1; k < columns; ++k) y[i] -= basis.at(i, k) * y[k];
    y[i] /= basis.at(i, i);
    if (!std::isfinite(y[i])) return;  // x stays as it is
  }
  for (std::size_t i = 0; i < columns; ++i) {
    precondition(*basis.v[i], *basis.z);
    vectors_.axpby(y[i], *basis.z, 1, x);
  }
}

Status Iterations::gmres(const Buffer& b, Buffer& x) {
  Basis basis(options_.restart);
  basis.z = vectors_.allocate();
  basis.v.push_back(vectors_.allocate());
  const auto nearest = vectors_.allocate();
  if (!status().ok()) return status();
  vectors_.copy(b, *basis.v[0]);
  double norm = std::sqrt(vectors_.dot(*basis.v[0], *basis.v[0]));
  bool ended = done(norm);
  while (!ended && status().ok()) {
    vectors_.axpby(0, b, 1 / norm, *basis.v[0]);
    basis.columns = 0;
    ended = cycle(basis, norm);
    vectors_.copy(x, *nearest);
    add_solution(basis, basis.columns, x);
    if (ended) break;
    const double before = norm;
    residual(b, x, *basis.v[0]);
    norm = std::sqrt(vectors_.dot(*basis.v[0], *basis.v[0]));
    if (norm > kWorse * before) {
      vectors_.copy(*nearest, x);
      ended = end(Ended::breakdown, "the vectors found are too close to bring x nearer");
    }
    if (norm <= options_.tolerance * norm_of_b_ || !std::isfinite(norm)) ended = done(norm);
  }
  return status();
}

}  // namespace idletune::krylov
