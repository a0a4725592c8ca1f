// The methods of kernels/krylov once more, on the host in double precision and as their books have
// them: residual after residual, the device's must agree.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/krylov/sparse_matrix.hpp"

namespace idletune::test {

using Vector = std::vector<double>;

inline double dot(const Vector& x, const Vector& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

inline double norm(const Vector& x) { return std::sqrt(dot(x, x)); }

inline Vector times(const krylov::SparseMatrix& matrix, const Vector& x) {
  Vector y(static_cast<std::size_t>(matrix.pattern.rows));
  krylov::multiply(matrix.pattern, matrix.values, x, y);
  return y;
}

inline Vector sum(double a, const Vector& x, double b, const Vector& y) {
  Vector z(x.size());
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = a * x[i] + b * y[i];
  return z;
}

inline Vector scaled(const Vector& d, const Vector& x) {
  Vector z(x.size());
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = d[i] * x[i];
  return z;
}

// Norms of the residuals as shares of that of b, from x = 0; `d` is what the preconditioner
// multiplies by.
inline Vector host_cg(const krylov::SparseMatrix& matrix, const Vector& b, const Vector& d,
                      double tolerance, std::size_t limit) {
  Vector history{1};
  Vector r = b;
  Vector z = scaled(d, r);
  Vector p = z;
  double rz = dot(r, z);
  while (history.back() > tolerance && history.size() <= limit) {
    const Vector q = times(matrix, p);
    const double alpha = rz / dot(p, q);
    r = sum(1, r, -alpha, q);
    history.push_back(norm(r) / norm(b));
    z = scaled(d, r);
    const double next = dot(r, z);
    p = sum(1, z, next / rz, p);
    rz = next;
  }
  return history;
}

inline Vector host_bicgstab(const krylov::SparseMatrix& matrix, const Vector& b, const Vector& d,
                            double tolerance, std::size_t limit) {
  Vector history{1};
  Vector r = b;
  const Vector shadow = b;
  Vector p = b;
  double rho = dot(b, b);
  while (history.back() > tolerance && history.size() <= limit) {
    const Vector v = times(matrix, scaled(d, p));
    const double alpha = rho / dot(shadow, v);
    const Vector s = sum(1, r, -alpha, v);
    const Vector t = times(matrix, scaled(d, s));
    const double omega = dot(t, s) / dot(t, t);
    r = sum(1, s, -omega, t);
    history.push_back(norm(r) / norm(b));
    const double next = dot(shadow, r);
    p = sum(1, r, next / rho * (alpha / omega), sum(1, p, -omega, v));
    rho = next;
  }
  return history;
}

// One cycle without a restart; the residuals are those of the least squares problem, by rotations.
inline Vector host_gmres(const krylov::SparseMatrix& matrix, const Vector& b, const Vector& d,
                         double tolerance, std::size_t limit) {
  Vector history{1};
  std::vector<Vector> basis{sum(1 / norm(b), b, 0, b)};
  std::vector<Vector> columns;
  Vector g{norm(b)}, cosines, sines;
  while (history.back() > tolerance && history.size() <= limit) {
    Vector w = times(matrix, scaled(d, basis.back()));
    Vector h;
    for (const Vector& v : basis) {
      h.push_back(dot(w, v));
      w = sum(1, w, -h.back(), v);
    }
    const double length = norm(w);
    for (std::size_t i = 0; i < cosines.size(); ++i) {
      const double above = h[i];
      h[i] = cosines[i] * above + sines[i] * h[i + 1];
      h[i + 1] = cosines[i] * h[i + 1] - sines[i] * above;
    }
    const double hypotenuse = std::hypot(h.back(), length);
    cosines.push_back(h.back() / hypotenuse);
    sines.push_back(length / hypotenuse);
    g.push_back(-sines.back() * g.back());
    history.push_back(std::fabs(g.back()) / norm(b));
    basis.push_back(sum(1 / length, w, 0, w));
  }
  return history;
}

}  // namespace idletune::test
