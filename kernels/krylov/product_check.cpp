#include "kernels/krylov/product_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace idletune::krylov {
namespace {

constexpr std::size_t kRowsChecked = 1000;

struct NumberRange {
  double roundoff;
  double smallest;
  double largest;
};
constexpr NumberRange kDouble = {0x1p-53, std::numeric_limits<double>::min(),
                                 std::numeric_limits<double>::max()};
constexpr NumberRange kFloat = {0x1p-24, static_cast<double>(std::numeric_limits<float>::min()),
                                static_cast<double>(std::numeric_limits<float>::max())};

bool is_row(const SparseMatrix& matrix, std::size_t row, Span<const double> x, double y,
            const NumberRange& precision, const PowerOfTwo& scale) {
  double sum = 0;
  double magnitude = 0;
  double lost = 0;  // where entries below the range are taken for 0
  const auto begin = static_cast<std::size_t>(matrix.pattern.row_start[row]);
  const auto end = static_cast<std::size_t>(matrix.pattern.row_start[row + 1]);
  for (std::size_t k = begin; k < end; ++k) {
    const double other = x[static_cast<std::size_t>(matrix.pattern.column[k])];
    const double term = scale.times(matrix.values[k]) * other;
    sum += term;
    magnitude += std::fabs(term);
    lost += precision.smallest * std::fabs(other);
  }
  if (!(magnitude < precision.largest)) return true;
  const double terms = static_cast<double>(end - begin);
  return std::fabs(y - sum) <=
         2 * (terms + 4) * (precision.roundoff * magnitude + precision.smallest) + lost;
}

}  // namespace

Status read_numbers(ApplicationQueue& queue, const Buffer& from, std::size_t number_bytes,
                    Span<double> numbers) {
  const std::size_t bytes = numbers.size() * number_bytes;
  auto* to = reinterpret_cast<std::uint8_t*>(numbers.data());
  const Status status = queue.read(from, 0, {to, bytes});
  if (!status.ok() || number_bytes == sizeof(double)) return status;
  const auto* floats = reinterpret_cast<const float*>(numbers.data());
  const std::vector<float> copied(floats, floats + numbers.size());
  std::copy(copied.begin(), copied.end(), numbers.begin());
  return {};
}

bool is_product(const SparseMatrix& matrix, Span<const double> x, Span<const double> y,
                bool is_double, const PowerOfTwo& scale) {
  const NumberRange& precision = is_double ? kDouble : kFloat;
  const std::size_t step = std::max<std::size_t>(1, y.size() / kRowsChecked);
  for (std::size_t row = 0; row < y.size(); row += step) {
    if (!is_row(matrix, row, x, y[row], precision, scale)) return false;
  }
  return y.empty() || is_row(matrix, y.size() - 1, x, y[y.size() - 1], precision, scale);
}

}  // namespace idletune::krylov
