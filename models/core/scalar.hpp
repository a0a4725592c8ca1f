// Numbers of any scalar type behind a pointer, so that code that walks over a buffer exists once
// and not once per type.
#pragma once

#include <idletune/scalar.hpp>

#include <cstdint>

namespace idletune {

// `in` and `out` need not be aligned and hold scalar_size_bytes(type) bytes.

// The nearest value that the type has; integers round down.
void store_number(ScalarType type, double value, void* out);
// Whether the type holds the value; stores it if so. Floating-point types hold all, rounded.
bool store_integer(ScalarType type, std::int64_t value, void* out);
// Of a 64-bit integer its nearest double.
double load_number(ScalarType type, const void* in);
// Of an integer type; a signed one with its sign extended.
std::uint64_t load_integer(ScalarType type, const void* in);
bool is_signed(ScalarType type);

}  // namespace idletune
