// Support vector machines, learned elsewhere (agent/host/lab/learners/support_vectors.hpp): predicting only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/host/learners/input_coding.hpp"

namespace idletune::learners {

inline constexpr std::size_t kMaxMachineClasses = 32;

// Plain numbers, so that they can be read where they are stored. With the radial kernel
// k(x, v) = exp(-gamma |x - v|^2):
// regression: value = sum of coefficients[s] k(x, vector s) - offsets[0];
// classification: every pair of classes votes (Knerr et al. 1990; the layout is that of libsvm,
// Chang & Lin 2011): vectors stand class by class, and the vectors of class i have in row j of
// `coefficients` (j < i) or j - 1 (j > i) those of its contest with class j; `offsets` has one
// number per pair (0, 1), (0, 2) ... (1, 2) ...; the first of a pair wins if the sum exceeds the
// offset; most contests won decide, among equals the class that comes first.
struct KernelMachineView {
  Span<const InputColumn> columns;
  Span<const float> vectors;        // support vectors as coded inputs, one after the other
  Span<const double> coefficients;  // 1 (regression) or class count - 1 rows, one per vector
  Span<const double> offsets;
  Span<const std::uint32_t> class_numbers;  // classification: of the classes it chooses among
  Span<const std::uint32_t> class_vectors;  // classification: how many vectors each has
  double gamma = 1;

  bool is_classification() const { return !class_numbers.empty(); }
  std::size_t vector_count() const { return vectors.size() / input_width(columns); }
  // The value, or the class number. `row` has one value per column. No allocation.
  double predict(Span<const float> row) const;
};

// Errors: corrupt, naming what: sizes that disagree, more than kMaxMachineClasses classes, numbers
// that are not finite, a gamma that is not above 0.
Status verify(const KernelMachineView& machine);

struct KernelMachine {
  std::vector<InputColumn> columns;
  std::vector<float> vectors;
  std::vector<double> coefficients;
  std::vector<double> offsets;
  std::vector<std::uint32_t> class_numbers;
  std::vector<std::uint32_t> class_vectors;
  double gamma = 1;

  KernelMachineView view() const {
    return {columns, vectors, coefficients, offsets, class_numbers, class_vectors, gamma};
  }
};

}  // namespace idletune::learners
