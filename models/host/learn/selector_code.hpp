// A model's selectors as C++ source. Host side.
#pragma once

#include <string>

#include "models/predict/model.hpp"

namespace idletune {

// One self-contained C++17 header with no other dependency than the standard library: per kernel a
// namespace `kernel_NAME`, in it per selector `on_DEVICE` (`on_any_device` for the one over all
// devices) with `covers(...)` and `select(...)`, which take the inputs as doubles and answer what
// SelectorView answers, and `kConfigurations`, which `select` gives an index into. Trees are nested
// conditions. The same model gives the same text.
std::string selector_code(const Model& model);

}  // namespace idletune
