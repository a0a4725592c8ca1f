// Conversions on another thread give what those of the calling one give.
#include <doctest/doctest.h>

#include "kernels/krylov/background_conversion.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;

SparsityPattern uneven_rows(std::int32_t rows) {
  SparsityPattern pattern;
  pattern.rows = pattern.columns = rows;
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t column = 0; column <= row; column += 1 + row / 7)
      pattern.column.push_back(column);
    pattern.row_start.push_back(static_cast<std::int32_t>(pattern.column.size()));
  }
  return pattern;
}

}  // namespace

TEST_CASE("a conversion on another thread is that of the calling one, time after time") {
  const SparsityPattern pattern = uneven_rows(300);
  BackgroundConversion background;
  for (std::size_t i = 0; i < kSparseFormats; ++i) {
    const auto format = static_cast<SparseFormat>(i);
    CAPTURE(sparse_format_name(format));
    REQUIRE(background.start(pattern, format, 8, UINT64_MAX));
    CHECK(background.started());
    while (!background.done()) {
    }
    const auto stored = background.take();
    CHECK(!background.started());
    CHECK(background.seconds() > 0);
    const auto expected = convert(pattern, format, 8, UINT64_MAX);
    REQUIRE(stored.ok());
    REQUIRE(expected.ok());
    CHECK(stored->format == format);
    CHECK(stored->slots == expected->slots);
    CHECK(stored->row_start == expected->row_start);
    CHECK(stored->row == expected->row);
    CHECK(stored->column == expected->column);
    CHECK(stored->offset == expected->offset);
    CHECK(stored->slot == expected->slot);
  }
}

TEST_CASE("a conversion without room says so on another thread, too") {
  const SparsityPattern pattern = uneven_rows(100);
  BackgroundConversion background;
  REQUIRE(background.start(pattern, SparseFormat::dia, 8, 1000));
  CHECK(background.take().status().code() == StatusCode::out_of_memory);
}

TEST_CASE("a conversion that nobody takes ends before what started it") {
  const SparsityPattern pattern = uneven_rows(2000);
  {
    BackgroundConversion background;
    REQUIRE(background.start(pattern, SparseFormat::sell, 8, UINT64_MAX));
  }
  BackgroundConversion idle;
  CHECK(!idle.started());
}
