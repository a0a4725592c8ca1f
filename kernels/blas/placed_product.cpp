#include "kernels/blas/placed_product.hpp"

#include <algorithm>
#include <utility>

namespace idletune::gemm {
namespace {

bool is_size(std::int64_t value) { return value >= 0 && value <= kMaxSize; }

Status check_size(GemmArgument argument, std::int64_t value) {
  if (is_size(value)) return {};
  return wrong(argument, "% is %, expected 0 to %", name_of(argument), value, kMaxSize);
}

Operand operand_of(const MatrixPlace& place, bool turned, std::int64_t rows, std::int64_t columns) {
  if (turned) std::swap(rows, columns);
  return {place.buffer, {place.offset, rows, columns, place.leading}, turned, 0, 0};
}

}  // namespace

GemmArgument& last_wrong() {
  thread_local GemmArgument argument = GemmArgument::none;
  return argument;
}

Status check_place(GemmArgument argument, GemmArgument leading, const MatrixPlace& place,
                   std::int64_t smallest) {
  smallest = std::max<std::int64_t>(smallest, 1);
  if (place.leading < smallest || place.leading > kMaxSize) {
    return wrong(leading, "% is %, expected % to %", name_of(leading), place.leading, smallest,
                 kMaxSize);
  }
  if (place.offset < 0 || place.offset > kMaxOffset) {
    return wrong(argument, "the offset of % is %, expected 0 to 2^60", name_of(argument),
                 place.offset);
  }
  return {};
}

const char* name_of(GemmArgument argument) {
  constexpr const char* kNames[] = {"",  "m",   "n",   "k",  "the number of products", "a", "b",
                                    "c", "lda", "ldb", "ldc"};
  return kNames[static_cast<std::size_t>(argument)];
}

bool overlap(const Rectangle& x, const Rectangle& y) {
  if (x.begin >= y.begin + y.extent() || y.begin >= x.begin + x.extent()) return false;
  if (x.leading == y.leading) {
    // The first row of the one behind begins in this row of the other, or in the gap behind it.
    const Rectangle& first = x.begin <= y.begin ? x : y;
    const Rectangle& behind = x.begin <= y.begin ? y : x;
    const std::int64_t row = (behind.begin - first.begin) / x.leading;
    const std::int64_t within = (behind.begin - first.begin) % x.leading;
    return (row < first.rows && within < first.columns) ||
           (row + 1 < first.rows && within + behind.columns > x.leading);
  }
  // Row by row of the one with fewer rows: whether [first, last] meets a row of the other.
  const Rectangle& few = x.rows <= y.rows ? x : y;
  const Rectangle& many = x.rows <= y.rows ? y : x;
  for (std::int64_t row = 0; row < few.rows; ++row) {
    const std::int64_t first = few.begin + row * few.leading - many.begin;
    const std::int64_t last = first + few.columns - 1;
    if (last < 0) continue;
    if (first >= many.extent()) return false;
    // The last row of the other that begins at or before `last`.
    const std::int64_t other = std::min(last / many.leading, many.rows - 1);
    if (first < other * many.leading + many.columns) return true;
  }
  return false;
}

bool take_other_columns(const Rectangle& x, std::int64_t x_stride, const Rectangle& y,
                        std::int64_t y_stride, std::int64_t count) {
  if (x.leading != y.leading) return false;
  const std::int64_t origin = std::min(x.begin, y.begin);
  const std::int64_t x_first = (x.begin - origin) % x.leading;
  const std::int64_t y_first = (y.begin - origin) % x.leading;
  const std::int64_t x_end = x_first + (count - 1) * x_stride + x.columns;
  const std::int64_t y_end = y_first + (count - 1) * y_stride + y.columns;
  return std::max(x_end, y_end) <= x.leading && (x_end <= y_first || y_end <= x_first);
}

bool overlap_each_other(const Rectangle& x, std::int64_t count, std::int64_t stride) {
  if (count > 1 && stride < x.columns) return true;
  for (std::int64_t i = 1; i < count && stride < (x.extent() + i - 1) / i; ++i) {
    Rectangle behind = x;
    behind.begin += i * stride;
    if (overlap(x, behind)) return true;
  }
  return false;
}

Status place(const Product& product, std::int64_t count, PlacedProduct& placed) {
  last_wrong() = GemmArgument::none;
  const bool turned_layout = product.layout == MatrixLayout::column_major;
  Status status;
  if (!is_size(product.m) || !is_size(product.n) || !is_size(product.k) || !is_size(count)) {
    status = check_size(GemmArgument::m, product.m);
    if (status.ok()) status = check_size(GemmArgument::n, product.n);
    if (status.ok()) status = check_size(GemmArgument::k, product.k);
    if (status.ok()) status = check_size(GemmArgument::count, count);
  }
  if (status.ok()) {
    status = check_place(GemmArgument::a, GemmArgument::lda, product.a,
                         product.transpose_a != turned_layout ? product.m : product.k);
  }
  if (status.ok()) {
    status = check_place(GemmArgument::b, GemmArgument::ldb, product.b,
                         product.transpose_b != turned_layout ? product.k : product.n);
  }
  if (status.ok()) {
    status = check_place(GemmArgument::c, GemmArgument::ldc, product.c,
                         turned_layout ? product.m : product.n);
  }
  if (!status.ok()) return status;

  placed.m = product.m, placed.n = product.n, placed.k = product.k, placed.count = count;
  placed.alpha = product.alpha, placed.beta = product.beta;
  const MatrixPlace* a = &product.a;
  const MatrixPlace* b = &product.b;
  bool turned_a = product.transpose_a;
  bool turned_b = product.transpose_b;
  // A column-major matrix is its transpose, row-major; (A B)^T is B^T A^T.
  if (turned_layout) {
    std::swap(placed.m, placed.n);
    std::swap(a, b);
    std::swap(turned_a, turned_b);
    std::swap(placed.names[0], placed.names[1]);
  }
  placed.operands[0] = operand_of(*a, turned_a, placed.m, placed.k);
  placed.operands[1] = operand_of(*b, turned_b, placed.k, placed.n);
  placed.operands[2] = operand_of(product.c, false, placed.m, placed.n);
  return {};
}

void leave_out_products(PlacedProduct& placed) {
  placed.k = 1;
  placed.alpha = 0;
  placed.panels = 0;
  const Argument& c = placed.operands[2].buffer;
  placed.operands[0] = {c, {0, placed.m, 1, 1}, false, 0, 0};
  placed.operands[1] = {c, {0, 1, placed.n, placed.n}, false, 0, 0};
}

}  // namespace idletune::gemm
