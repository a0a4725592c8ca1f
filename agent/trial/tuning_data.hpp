// What tuning puts into buffers and scalars: inputs made from a seed, poison, guard patterns. Pure
// functions of their arguments, so that nothing has to be kept to verify it later.
#pragma once

#include <cstddef>
#include <cstdint>

#include <idletune/device.hpp>
#include <idletune/span.hpp>

#include "models/package/package_specs.hpp"

namespace idletune::trial {

// The elements from number `first` on of argument number `argument`, as its fill specification
// (of a buffer: by fill_at) says, drawn from (seed, argument, element). out.size() is a multiple of
// the element's size.
void fill_elements(const ArgumentSpec& spec, std::uint32_t argument, std::uint32_t seed,
                   std::uint64_t first, MutableBytes out);

// A memory argument's specification for a buffer of `bytes` at the shape: the values of indices lie
// below the bound there, and fill_high of a ramp is its slope.
ArgumentSpec fill_at(const KernelPackage& package, std::size_t argument, const Shape& shape,
                     std::uint64_t bytes);

// A scalar argument's value, likewise.
Argument scalar_value(const ArgumentSpec& spec, std::uint32_t argument, std::uint32_t seed);

// An argument that the application does not pass, for `shape` and `configuration`: a dimension's
// value in its type, or local memory. Errors: those of KernelPackage::derived_value.
Result<Argument> derived_argument(const KernelPackage& package, std::size_t argument,
                                  const Shape& shape, const Configuration& configuration);

// The same of its value; false if no argument can say that.
bool derived_from(const ArgumentSpec& spec, std::int64_t value, Argument& out);

// The 32-bit word that outputs are filled with before a run: a quiet NaN as one f32, as two f16 and
// twice in a row as an f64; for bytes and 16-bit integers, which have no such value, any.
std::uint32_t poison_word(ScalarType type, std::uint32_t argument, std::uint32_t seed);

// The 32-bit word that guard zones are filled with: no NaN, no small integer, no small float.
std::uint32_t guard_word(std::uint32_t argument);

// Repeats `word` (little-endian) over `out`.
void fill_words(std::uint32_t word, MutableBytes out);

}  // namespace idletune::trial
