// A kernel whose problems have two dimensions, the second of which may be 0, and four features.
#pragma once

#include <doctest/doctest.h>

#include <memory>

#include "models/host/pack/pack.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/required.hpp"

namespace idletune::test {

inline KernelDescription problem_description() {
  KernelDescription description = made_kernel("problem", "source of problem");
  description.dialect = Dialect::opencl;
  description.dimensions = {"M", "N"};
  description.zero_dimensions = {"N"};
  description.features = {{"padding", "round_up(M, 16) - M", {}, {}, {}},
                          {"mean_row", {}, {}, {}, {}},
                          {"layout", {}, {}, {"plain", "transposed"}, {}},
                          {"aspect", "M", "N", {}, {}}};
  description.parameters = {{"WG", ParameterKind::work_group, {16, 64}, 16}};
  description.launch.global = {"round_up(N, WG)", "M"};
  description.launch.local = {"WG", "1"};
  description.arguments = {made_buffer("out", "M * N", Access::out)};
  return description;
}

inline std::shared_ptr<const KernelPackage> opened(const KernelDescription& description) {
  return required(KernelPackage::open(required(pack(description)), "test"));
}

inline std::shared_ptr<const KernelPackage> problem_package() {
  return opened(problem_description());
}

}  // namespace idletune::test
