// What a kernel package says of its arguments, its steps and its results.
#pragma once

#include <cstdint>
#include <string_view>

#include <idletune/scalar.hpp>
#include <idletune/span.hpp>

namespace idletune {

class KernelPackage;  // models/package/kernel_package.hpp

// The numbers of these enumerations are stored in packages and never change.
enum class ArgumentKind : std::uint8_t {
  buffer = 0,     // given by the application
  scalar = 1,     // given by the application
  dimension = 2,  // computed from the shape; the application does not pass it
  local = 3,      // memory of each work-group; the application does not pass it
  scratch = 4,    // device memory that steps hand results on in; the application does not pass it
  prepared = 5    // device memory that the setup writes and steps read; likewise
};
// Whether it is device memory that the application does not pass.
inline bool is_own_memory(ArgumentKind kind) {
  return kind == ArgumentKind::scratch || kind == ArgumentKind::prepared;
}
// Whether it is device memory, the application's or not.
inline bool is_memory(ArgumentKind kind) {
  return kind == ArgumentKind::buffer || is_own_memory(kind);
}
enum class Access : std::uint8_t { in = 0, out = 1, inout = 2 };

// What tuning puts into a buffer (or a scalar) of its own.
enum class Fill : std::uint8_t {
  uniform = 0,   // uniform in [fill_low, fill_high)
  constant = 1,  // fill_low
  zero = 2,
  index = 3,  // fill_low + (i mod (fill_high - fill_low)); fill_low + i if they are equal
  ramp = 4    // even steps from 0 at the first element to the largest index at the last
};

enum class Dialect : std::uint8_t {
  portable = 0,  // OpenCL C 1.2 and CUDA C++ through the dialect header
  opencl = 1,
  cuda = 2
};

// One argument of the kernel function, in order. Views live as long as the package.
struct ArgumentSpec {
  std::string_view name;
  ArgumentKind kind = ArgumentKind::buffer;
  ScalarType type = ScalarType::f32;  // a buffer's element type
  Access access = Access::in;         // buffers only; own memory is `out`, the others are `in`
  bool constant = false;  // what the buffer holds does not change unless the application says so
  Fill fill = Fill::zero;
  double fill_low = 0;
  double fill_high = 0;
  bool captured = false;  // tuned on what the application lent, where it did; buffers
  bool is_index = false;  // KernelPackage::index_bound bounds each element
};

// A kernel function and which of the package's arguments it takes, by position. Views live as long
// as the package.
struct StepSpec {
  std::string_view entry;
  Span<const std::uint8_t> arguments;
  // Whether those are the package's first ones, in order.
  bool in_order = false;
};

// Of a dimension that a kernel gets as an i32: whole groups of it, and a border, still fit one.
inline constexpr std::int64_t kMostInInt = (std::int64_t{1} << 31) - 4096;

// How far an output may be from the reference's:
//   |out - ref| <= absolute + relative * max(|ref|, scale)
// (agent/trial/output_check.hpp judges).
// `scale` is the magnitude a result would have without cancellation; models/package/README.md says
// how to choose the three for sums of floats.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  double scale = 0;
  double allowed(double reference) const {
    const double magnitude = reference < 0 ? -reference : reference;
    return absolute + relative * (magnitude > scale ? magnitude : scale);
  }
};

}  // namespace idletune
