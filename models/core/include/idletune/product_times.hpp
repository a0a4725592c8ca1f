// What a product with a sparse matrix is expected to take in each format, kernel and work group, by
// how the matrix looks: a section of a model (models/host/learn/sparse_times.hpp writes it).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune {

class Model;

inline constexpr std::size_t kMatrixFeatures = 12;  // of kernels/krylov/features.hpp, in its order
inline constexpr std::size_t kProductInputs = kMatrixFeatures + 1;  // and the format's slots
inline constexpr std::size_t kMaxProductFormats = 16;
inline constexpr std::size_t kMaxProductCandidates = 1024;
inline constexpr std::uint8_t kMaxRowItems = 128;
inline constexpr char kProductsEntry[] = "spmv";  // the model's kernel that has the section

struct ProductCandidate {
  std::uint8_t format = 0;  // krylov::SparseFormat
  std::uint8_t kernel = 0;  // of each row 0: a work item, 1: a group, more: so many work items
  std::uint32_t work_group = 0;
};

// What log2 of a time is linear in: log2 (1 + value) of features and slots.
using ProductInputs = std::array<double, kProductInputs>;
ProductInputs product_inputs(Span<const double> features, double slots);
// `coefficients`: the constant, then one per input. The time's unit is that of what was learned.
double product_time(Span<const float> coefficients, const ProductInputs& inputs);

// Of one device and size of numbers.
class ProductTimes {
 public:
  // Errors: those of Model::open; not_found (the model says nothing of this device, by its name,
  // and numbers of these bytes); corrupt (the section, naming what).
  static Result<ProductTimes> open(Bytes model, std::string_view device, std::size_t number_bytes);

  std::size_t size() const { return candidates_.size() / 3; }
  ProductCandidate candidate(std::size_t i) const;
  // No allocation.
  double microseconds(std::size_t candidate, const ProductInputs& inputs) const;
  // Of the conversion from compressed rows on the host; 0: not known.
  double conversion_us(std::uint8_t format, const ProductInputs& inputs) const;

 private:
  std::shared_ptr<const Model> model_;
  Span<const std::int64_t> candidates_;
  Span<const float> coefficients_;
  Span<const float> conversion_;
};

}  // namespace idletune
