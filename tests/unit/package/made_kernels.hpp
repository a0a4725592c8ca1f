// What tests make kernels of.
#pragma once

#include <string>
#include <utility>

#include "models/host/pack/kernel_description.hpp"

namespace idletune::test {

// Of one dimension, N; the kernel function has the kernel's name.
inline KernelDescription made_kernel(const char* name, std::string source) {
  KernelDescription kernel;
  kernel.name = kernel.entry = name;
  kernel.source = std::move(source);
  kernel.dimensions = {"N"};
  return kernel;
}

inline DescribedArgument made_buffer(const char* name, const char* elements,
                                     Access access = Access::in) {
  DescribedArgument buffer;
  buffer.name = name;
  buffer.access = access;
  buffer.size = elements;
  return buffer;
}

// Read; tuned on numbers from `low` to `high`.
inline DescribedArgument made_input(const char* name, const char* elements, double low,
                                    double high) {
  DescribedArgument input = made_buffer(name, elements);
  input.fill = Fill::uniform;
  input.fill_low = low;
  input.fill_high = high;
  return input;
}

inline DescribedArgument made_scalar(const char* name, double value) {
  DescribedArgument scalar;
  scalar.name = name;
  scalar.kind = ArgumentKind::scalar;
  scalar.fill = Fill::constant;
  scalar.fill_low = scalar.fill_high = value;
  return scalar;
}

// The value as a number of 32 bits.
inline DescribedArgument made_dimension(const char* name, const char* value) {
  DescribedArgument dimension;
  dimension.name = name;
  dimension.kind = ArgumentKind::dimension;
  dimension.type = ScalarType::i32;
  dimension.size = value;
  return dimension;
}

}  // namespace idletune::test
