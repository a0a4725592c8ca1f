// A system on the host in double precision, in units of its right-hand side: what a solver begins
// with, and what proves its verdict.
#pragma once

#include <cstddef>
#include <memory>

#include <idletune/krylov.hpp>

namespace idletune::krylov {

// The Euclidean norm, whatever the numbers' size; infinite where one of them is not finite.
double norm_of(Span<const double> values);

class HostSystem {
 public:
  // All three must outlive it; `b` is finite, and not all 0.
  HostSystem(const SparseMatrix& matrix, Span<const double> b, Span<double> x)
      : matrix_(matrix), b_(b), given_(x) {}
  // b - A x for the x given; where that has no finite norm, for an x of zeros. Error:
  // out_of_memory.
  Status begin();
  double norm_of_b() const { return norm_of_b_; }  // in these units
  double norm() const { return norm_; }            // of b - A x
  double residual() const { return norm_ / norm_of_b_; }
  Span<const double> rest() const { return {rest_, x_.size()}; }  // b - A x
  Span<double> correction() { return {correction_, x_.size()}; }
  // x += 2^exponent times correction(), unless that brings x no nearer.
  // The norm that b - A x has with it; infinite where an element of that x is not finite.
  double correct(int exponent);
  // The x given becomes what residual() is of: zeros, where nothing was better and it was none.
  void settle();

 private:
  double rest_of(Span<const double> x, double* rest);

  const SparseMatrix& matrix_;
  Span<const double> b_;
  Span<double> given_, x_;
  std::unique_ptr<double[]> memory_;
  double* rest_ = nullptr;
  double* next_rest_ = nullptr;
  double* correction_ = nullptr;
  double* scaled_ = nullptr;  // x in these units
  int exponent_ = 0;          // of these units
  double norm_of_b_ = 0;
  double norm_ = 0;
  bool from_zeros_ = false;
};

}  // namespace idletune::krylov
