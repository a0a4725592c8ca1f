// What the profiled program's instructions are to the analysis. Needs nothing but the standard
// library: the profiled program links it, too.
#pragma once

#include <cstdint>
#include <vector>

namespace idletune::offload {

enum class OperationKind : std::uint8_t {
  integer = 0,  // arithmetic, comparisons, conversions and addresses that are computed
  load,
  store,
  decision,      // a conditional branch or a switch
  control,       // any other jump, a call, a return
  single_other,  // single precision: sums, comparisons, conversions
  single_multiply,
  single_divide,
  single_root,
  single_exponential,    // exp, log and their like
  single_trigonometric,  // sin, cos and their like
  double_precision       // all arithmetic in double precision or more
};
inline constexpr std::size_t kOperationKinds = 12;

constexpr bool is_access(OperationKind kind) {
  return kind == OperationKind::load || kind == OperationKind::store;
}

// A value that operations hand to each other has a number; 0 is what was known before: a constant.
using ValueNumber = std::uint32_t;

// One instruction of the program as it stands in the code: what a program counter is to a
// processor.
struct Operation {
  OperationKind kind = OperationKind::integer;
  ValueNumber result = 0;            // 0: makes none
  std::vector<ValueNumber> sources;  // what it computes with; of an access also the address
  std::uint32_t bytes = 0;           // of an access
  bool updates = false;  // a load whose place then gets a sum, product, ... of what it had
};

}  // namespace idletune::offload
