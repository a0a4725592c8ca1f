#include "kernels/krylov/host_system.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "kernels/krylov/power_of_two.hpp"
#include "kernels/krylov/sparse_matrix.hpp"

namespace idletune::krylov {

double norm_of(Span<const double> values) {
  double largest = 0;
  double nothing = 0;
  for (const double value : values) {
    largest = std::max(largest, std::fabs(value));
    nothing += 0 * value;
  }
  if (nothing != 0) return HUGE_VAL;  // of 0 times NaN or an infinity
  if (largest == 0) return 0;
  double sum = 0;
  for (const double value : values) sum += value / largest * (value / largest);
  return largest * std::sqrt(sum);
}

Status HostSystem::begin() {
  const std::size_t size = given_.size();
  memory_.reset(new (std::nothrow) double[5 * size]);
  if (!memory_) return {StatusCode::out_of_memory, "% bytes of host memory", 40 * size};
  rest_ = memory_.get();
  next_rest_ = rest_ + size;
  correction_ = next_rest_ + size;
  scaled_ = correction_ + size;
  x_ = {scaled_ + size, size};
  std::copy_n(given_.begin(), size, x_.begin());
  exponent_ = exponent_above(b_);
  const PowerOfTwo down(-exponent_);
  for (std::size_t i = 0; i < size; ++i) rest_[i] = down.times(b_[i]);
  norm_of_b_ = norm_ = norm_of({rest_, size});
  if (std::all_of(x_.begin(), x_.end(), [](double number) { return number == 0; })) return {};
  const double given = rest_of(x_, next_rest_);
  from_zeros_ = std::isinf(given);
  if (from_zeros_) return {};
  norm_ = given;
  std::swap(rest_, next_rest_);
  return {};
}

double HostSystem::rest_of(Span<const double> x, double* rest) {
  const PowerOfTwo down(-exponent_);
  for (std::size_t i = 0; i < x.size(); ++i) scaled_[i] = down.times(x[i]);
  const Span<double> numbers(rest, x.size());
  multiply(matrix_.pattern, matrix_.values, Span<const double>(scaled_, x.size()), numbers);
  for (std::size_t i = 0; i < x.size(); ++i) rest[i] = down.times(b_[i]) - rest[i];
  return norm_of(numbers);
}

double HostSystem::correct(int exponent) {
  const PowerOfTwo up(exponent + exponent_);
  double nothing = 0;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    correction_[i] = (from_zeros_ ? 0 : x_[i]) + up.times(correction_[i]);
    nothing += 0 * correction_[i];
  }
  if (nothing != 0) return HUGE_VAL;
  const double norm = rest_of(correction(), next_rest_);
  if (!(norm < norm_)) return norm;
  std::copy_n(correction_, x_.size(), x_.begin());
  std::swap(rest_, next_rest_);
  norm_ = norm;
  from_zeros_ = false;
  return norm;
}

void HostSystem::settle() {
  if (from_zeros_) std::fill(x_.begin(), x_.end(), 0.0);
  std::copy_n(x_.begin(), x_.size(), given_.begin());
}

}  // namespace idletune::krylov
