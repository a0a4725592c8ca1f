#include "models/host/learners/kernel_machine.hpp"

#include <cmath>

namespace idletune::learners {
namespace {

constexpr std::size_t kMaxPairs = kMaxMachineClasses * (kMaxMachineClasses - 1) / 2;

double kernel(const float* a, const float* b, std::size_t width, double gamma) {
  double sum = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return std::exp(-gamma * sum);
}

// Number of the pair (i, j), i < j, in the order (0, 1), (0, 2) ...
std::size_t pair_number(std::size_t i, std::size_t j, std::size_t classes) {
  return i * (2 * classes - i - 1) / 2 + (j - i - 1);
}

double vote(const KernelMachineView& machine, const float* inputs, std::size_t width) {
  const std::size_t classes = machine.class_numbers.size();
  const std::size_t vectors = machine.vector_count();
  double sums[kMaxPairs] = {};
  std::size_t s = 0;
  for (std::size_t i = 0; i < classes; ++i) {
    for (std::uint32_t n = 0; n < machine.class_vectors[i]; ++n, ++s) {
      const double k = kernel(inputs, machine.vectors.data() + s * width, width, machine.gamma);
      for (std::size_t j = 0; j < classes; ++j) {
        if (j == i) continue;
        const std::size_t row = j < i ? j : j - 1;
        const std::size_t pair = i < j ? pair_number(i, j, classes) : pair_number(j, i, classes);
        sums[pair] += machine.coefficients[row * vectors + s] * k;
      }
    }
  }
  std::size_t won[kMaxMachineClasses] = {};
  for (std::size_t i = 0; i < classes; ++i) {
    for (std::size_t j = i + 1; j < classes; ++j) {
      const std::size_t pair = pair_number(i, j, classes);
      ++won[sums[pair] > machine.offsets[pair] ? i : j];
    }
  }
  std::size_t best = 0;
  for (std::size_t i = 1; i < classes; ++i) best = won[i] > won[best] ? i : best;
  return machine.class_numbers[best];
}

Status corrupt(const char* what) {
  return Status(StatusCode::corrupt, "support vector machine: %", what);
}

template <class T>
bool all_finite(Span<const T> numbers) {
  for (const T x : numbers) {
    if (!std::isfinite(x)) return false;
  }
  return true;
}

Status verify_classes(const KernelMachineView& machine, std::size_t vectors) {
  const std::size_t classes = machine.class_numbers.size();
  if (classes > kMaxMachineClasses) return corrupt("too many classes");
  if (machine.class_vectors.size() != classes)
    return corrupt("counts of vectors and classes disagree");
  std::uint64_t sum = 0;
  for (const std::uint32_t count : machine.class_vectors) sum += count;
  if (sum != vectors) return corrupt("the classes' vectors are not all vectors");
  if (machine.coefficients.size() != (classes - 1) * vectors)
    return corrupt("the number of coefficients");
  if (machine.offsets.size() != classes * (classes - 1) / 2)
    return corrupt("the number of offsets");
  return {};
}

}  // namespace

double KernelMachineView::predict(Span<const float> row) const {
  float inputs[kMaxInputs];
  const std::size_t width = input_width(columns);
  code_inputs(columns, row, inputs);
  if (is_classification()) return vote(*this, inputs, width);
  double sum = 0;
  for (std::size_t s = 0; s < coefficients.size(); ++s) {
    sum += coefficients[s] * kernel(inputs, vectors.data() + s * width, width, gamma);
  }
  return sum - offsets[0];
}

Status verify(const KernelMachineView& machine) {
  if (Status columns = verify(machine.columns); !columns.ok()) return columns;
  if (machine.vectors.size() % input_width(machine.columns) != 0)
    return corrupt("a vector is cut off");
  const std::size_t vectors = machine.vector_count();
  if (machine.is_classification()) {
    if (Status classes = verify_classes(machine, vectors); !classes.ok()) return classes;
  } else {
    if (!machine.class_vectors.empty()) return corrupt("counts of vectors and classes disagree");
    if (machine.coefficients.size() != vectors) return corrupt("the number of coefficients");
    if (machine.offsets.size() != 1) return corrupt("the number of offsets");
  }
  if (!all_finite(machine.vectors) || !all_finite(machine.coefficients) ||
      !all_finite(machine.offsets)) {
    return corrupt("a number is not finite");
  }
  if (!std::isfinite(machine.gamma) || !(machine.gamma > 0))
    return corrupt("gamma must be above 0");
  return {};
}

}  // namespace idletune::learners
