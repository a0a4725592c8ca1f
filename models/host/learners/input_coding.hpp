// From a row of features to the numbers that support vectors and perceptrons are fed with.
#pragma once

#include <cstddef>
#include <cstdint>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune::learners {

inline constexpr std::size_t kMaxInputs = 1024;  // after coding; rows are coded on the stack

// How one feature is coded. 12 bytes, stored as it is.
struct InputColumn {
  float offset = 0;  // numeric: (x - offset) * factor
  float factor = 1;
  std::uint32_t categories = 0;  // 0: numeric; else that many inputs, 1 for the row's category and
                                 // 0 for the others (all 0 for a category that is not below this)
};
static_assert(sizeof(InputColumn) == 12, "columns are stored as they are");

// Inputs that a row becomes.
std::size_t input_width(Span<const InputColumn> columns);
// `row` has a value per column, `inputs` holds input_width(columns) numbers.
void code_inputs(Span<const InputColumn> columns, Span<const float> row, float* inputs);
// Errors: corrupt if there is no column, more than kMaxInputs inputs, or a number that is not
// finite.
Status verify(Span<const InputColumn> columns);

}  // namespace idletune::learners
