// Compiled without idletune's headers and flags for it: what `learn --emit-cpp` writes stands
// alone.
#include "selectors.hpp"

namespace generated = idletune_generated::kernel_gemm;

std::size_t generated_select(int selector, double m, double n, double k);
bool generated_covers(double m, double n, double k);
const std::int64_t* generated_values(int selector, std::size_t number);

std::size_t generated_select(int selector, double m, double n, double k) {
  switch (selector) {
    case 0: return generated::on_large_tree::select(m, n, k);
    case 1: return generated::on_derived_features::select(m, n, k);
    case 2: return generated::on_stump::select(m, n, k);
    default: return generated::on_any_device::select(m, n, k);
  }
}

bool generated_covers(double m, double n, double k) {
  return generated::on_large_tree::covers(m, n, k);
}

const std::int64_t* generated_values(int selector, std::size_t number) {
  switch (selector) {
    case 0: return generated::on_large_tree::kConfigurations[number];
    case 1: return generated::on_derived_features::kConfigurations[number];
    case 2: return generated::on_stump::kConfigurations[number];
    default: return generated::on_any_device::kConfigurations[number];
  }
}
