// Models of what products take, each learned from explorations of other matrices than the one that
// it is asked about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <idletune/product_times.hpp>

#include "kernels/krylov/device_kernels.hpp"
#include "models/host/learn/sparse_table.hpp"

namespace idletune::bench {

struct LeftOutModel {
  std::vector<std::uint8_t> bytes;
  std::string device;  // that it knows
  ProductInputs inputs[krylov::kSparseFormats];
};

class LeftOutModels {
 public:
  // Histories of products on matrices (explore --problem), in double precision. Throws
  // std::runtime_error.
  explicit LeftOutModels(const std::string& folder);
  // Of a drawn matrix, from what is learned of other families; nothing where no exploration knows
  // the matrix of this name.
  std::optional<LeftOutModel> of(const std::string& matrix) const;

 private:
  std::vector<std::uint8_t> without(const std::string& family) const;

  sparse::Table table_;
};

}  // namespace idletune::bench
