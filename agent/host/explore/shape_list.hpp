// Problem sizes from a table: what an exploration of many problems measures. Host side.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune::explore {

inline constexpr std::size_t kMaxListedShapes = 100000;
inline constexpr std::size_t kMaxShapeListBytes = std::size_t{64} << 20;
inline constexpr std::int64_t kMaxListedSize = std::int64_t{1} << 40;

// What a kernel calls its inputs, and what those are that no column names.
struct ShapeColumns {
  std::vector<std::string> dimensions;
  std::vector<std::string> features;
  std::vector<std::pair<std::string, double>> fixed;
};

// Values separated by commas, below a line of names, packed by gzip or not. A column is found by
// its name, in capitals or not; others are not looked at. A problem that stands there twice is
// taken once. Errors (corrupt) name `path`, the line, and what was expected: a column that is
// missing, a size that is no whole number from 0 to kMaxListedSize, a feature that is no number of
// at least 0, no problem, more than kMaxListedShapes of them.
Result<std::vector<Shape>> read_shapes(Bytes bytes, const std::string& path,
                                       const ShapeColumns& columns);

// The sets of matrix products that are known by name, as such a table; empty for another name. go2:
// M, N and K in 256, 512, ..., 3840; po2: in 64, 128, ..., 2048 (Cianfriglia et al. 2018, section
// 4.1); go2/8: every size of go2 an eighth.
std::string named_shape_table(std::string_view name);
inline constexpr char kNamedShapeTables[] = "go2, go2/8, po2";

// The product of its dimensions, which orders problems by size; those of 0 do not count.
double extent(const Shape& shape);

}  // namespace idletune::explore
