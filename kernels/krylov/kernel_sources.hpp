// The texts of the kernels, as the packages have them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace idletune::krylov {

// Products first, in the order of SparseFormat.
enum class Operation : std::uint8_t {
  csr,
  coo,
  dia,
  ell,
  hyb,
  sell,
  dots,
  combine,
  pointwise,
  cg_step
};
inline constexpr std::size_t kOperations = 10;

struct KernelSource {
  const char* entry;
  const char* text;
};
extern const KernelSource kKernelSources[kOperations];  // by Operation
extern const char* const kDialectText[2];               // what stands in front of each
extern const char* const kRowLanesText;                 // and, of products, behind that

}  // namespace idletune::krylov
