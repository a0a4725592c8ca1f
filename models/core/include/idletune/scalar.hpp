// The types of kernel arguments and of buffers' elements.
#pragma once

#include <cstddef>
#include <cstdint>

namespace idletune {

// The numbers are stored in packages and never change.
enum class ScalarType : std::uint8_t {
  i32 = 0,
  u32 = 1,
  i64 = 2,
  u64 = 3,
  f32 = 4,
  f64 = 5,
  i8 = 6,
  u8 = 7,
  i16 = 8,
  u16 = 9,
  f16 = 10
};
inline constexpr std::size_t kScalarTypeCount = 11;

std::size_t scalar_size_bytes(ScalarType type);
const char* scalar_type_name(ScalarType type);  // "i32", ...; "unknown" for a number that is none
bool is_integer(ScalarType type);

// An f16 by its bits (IEEE 754 binary16, OpenCL's and CUDA's half), which C++17 has no type for.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(double value);  // the nearest; ties to even
  double value() const;
};

}  // namespace idletune
