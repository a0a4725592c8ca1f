#include "models/host/learners/input_coding.hpp"

#include <cmath>

namespace idletune::learners {

std::size_t input_width(Span<const InputColumn> columns) {
  std::size_t width = 0;
  for (const InputColumn& column : columns) width += column.categories == 0 ? 1 : column.categories;
  return width;
}

void code_inputs(Span<const InputColumn> columns, Span<const float> row, float* inputs) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const InputColumn& column = columns[c];
    if (column.categories == 0) {
      *inputs++ = (row[c] - column.offset) * column.factor;
      continue;
    }
    for (std::uint32_t i = 0; i < column.categories; ++i) {
      *inputs++ = row[c] == static_cast<float>(i) ? 1.0f : 0.0f;
    }
  }
}

Status verify(Span<const InputColumn> columns) {
  std::size_t width = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!std::isfinite(columns[c].offset) || !std::isfinite(columns[c].factor)) {
      return Status(StatusCode::corrupt, "input column %: not finite", c);
    }
    if (columns[c].categories > kMaxInputs) {
      return Status(StatusCode::corrupt, "input column %: too many categories", c);
    }
    width += columns[c].categories == 0 ? 1 : columns[c].categories;
    if (width > kMaxInputs) break;
  }
  if (width == 0 || width > kMaxInputs) {
    return Status(StatusCode::corrupt, "input columns: expected 1 to % inputs", kMaxInputs);
  }
  return {};
}

}  // namespace idletune::learners
