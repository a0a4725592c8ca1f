// What a learned model expects of products with one matrix: in which format, kernel and work group.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <idletune/product_times.hpp>

#include "kernels/krylov/device_kernels.hpp"
#include "kernels/krylov/sparse_matrix.hpp"

namespace idletune::krylov {

class ModelChoice {
 public:
  // Without a model, or with one that says nothing of this device, it knows nothing. Errors: those
  // of ProductTimes::open but not_found.
  Status open(Bytes model, std::string_view device, std::size_t number_bytes);
  bool open() const { return times_.size() > 0; }
  // Computes the matrix's features: some passes over its entries. Only then anything is predicted.
  void look_at(const SparsityPattern& pattern);
  bool looked() const { return looked_; }
  // The same from what is known of the matrix. No allocation.
  void choose(const ProductInputs (&inputs)[kSparseFormats]);

  // Microseconds; 0: nothing is predicted.
  double product_us(SparseFormat format, KernelVariant variant) const;
  double best_us(SparseFormat format) const;
  double conversion_us(SparseFormat format) const;
  // The fastest ones by prediction, the fastest first; none where nothing is predicted.
  std::vector<KernelVariant> fastest(SparseFormat format, std::size_t most) const;

 private:
  struct Expected {
    ProductCandidate candidate;
    double us;
  };

  ProductTimes times_;
  bool looked_ = false;
  std::vector<Expected> expected_;  // the fastest first
  double conversion_us_[kSparseFormats] = {};
};

}  // namespace idletune::krylov
