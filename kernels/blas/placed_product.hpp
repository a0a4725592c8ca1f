// A product as a caller describes it, checked and turned into what the kernels take.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include <idletune/gemm.hpp>

namespace idletune::gemm {

// A row-major matrix as it is stored: `rows` rows of `columns` elements, `leading` apart.
struct Rectangle {
  std::int64_t begin = 0;  // elements from the buffer's begin
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading = 0;
  std::int64_t extent() const { return (rows - 1) * leading + columns; }
};

// Whether they have an element in common, both being of one buffer.
bool overlap(const Rectangle& x, const Rectangle& y);
// Whether `count` of each, each so far behind the one before, take different columns of rows of one
// length: then none overlap. False where a look at each pair has to tell.
bool take_other_columns(const Rectangle& x, std::int64_t x_stride, const Rectangle& y,
                        std::int64_t y_stride, std::int64_t count);
// Whether two of `count` rectangles do, each `stride` (at least 0) behind the one before.
bool overlap_each_other(const Rectangle& x, std::int64_t count, std::int64_t stride);

struct Operand {
  Argument buffer;
  Rectangle stored;
  bool turned = false;
  std::int64_t stride = 0;       // from product to product
  std::uint64_t seen_bytes = 0;  // that its buffer was seen to hold, in this call
};

// What the kernels of kernels/blas/sgemm take: row-major, column-major ones having swapped operands.
struct PlacedProduct {
  std::int64_t m = 0, n = 0, k = 0, count = 1;
  float alpha = 1, beta = 0;
  std::array<Operand, 3> operands;  // A, B, C
  std::int64_t panels = 0;          // of LINKS of kernels/blas/sgemm: which of A and B is in panels
  // Which argument of the caller's each operand is.
  std::array<GemmArgument, 3> names{GemmArgument::a, GemmArgument::b, GemmArgument::c};
};

// The largest size: what kernels round up to whole groups still fits 32 bits.
inline constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max() - 4095;
inline constexpr std::int64_t kMaxOffset = std::int64_t{1} << 60;

// Panels are as wide, and as deep in multiples of it.
inline constexpr std::int64_t kPanel = 16;
inline std::int64_t whole_panels(std::int64_t size) {
  return (size + kPanel - 1) / kPanel * kPanel;
}

// Of the calling thread: the argument that `wrong` was told last.
GemmArgument& last_wrong();
template <class... Pieces>
Status wrong(GemmArgument argument, const char* form, const Pieces&... given) {
  last_wrong() = argument;
  return Status(StatusCode::invalid_argument, form, given...);
}
const char* name_of(GemmArgument argument);
// The leading dimension, which the matrix's sizes want to be `smallest`, and the offset.
Status check_place(GemmArgument argument, GemmArgument leading, const MatrixPlace& place,
                   std::int64_t smallest);

// Checks sizes and leading dimensions, and places the product. Products with nothing to do (m, n
// or count is 0) are right, too.
Status place(const Product& product, std::int64_t count, PlacedProduct& placed);
// Makes it C = beta C: A and B are not read, so that C itself can stand for them.
void leave_out_products(PlacedProduct& placed);

}  // namespace idletune::gemm
