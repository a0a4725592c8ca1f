// What writer and readers of .itmodel files must agree on besides the schema. See README.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/core/digest.hpp"

namespace idletune::model_schema {

struct ModelFile;

// Kinds of sections. Numbers are stored in files and never change.
enum class SectionKind : std::uint32_t {
  sources = 1,
  portfolio = 2,
  first_picks = 3,
  quality = 4,
  selectors = 5,
  published = 6,
  provenance = 7,
  offload = 8,  // for hosts: what CPU code would take on a GPU
  products = 9  // for solvers: what products with sparse matrices take
};
inline constexpr std::uint32_t kSectionVersion = 1;

inline constexpr std::size_t kMaxKernels = 4096;
inline constexpr std::size_t kMaxSections = 256;
inline constexpr std::size_t kMaxSources = 1024;
inline constexpr std::size_t kMaxPortfolio = 65536;
inline constexpr std::size_t kMaxPicks = 65536;
inline constexpr std::size_t kMaxNameBytes = 256;
inline constexpr std::size_t kMaxSelectors = 1024;
inline constexpr std::size_t kMaxSelectorFeatures = 64;
inline constexpr int kMaxExponent = 3;
inline constexpr std::size_t kMaxPublished = 4096;
// A selector answers for shapes up to this factor outside the range that it was learned in.
inline constexpr double kSelectorMargin = 2;

// Of everything but the digest and the signature, in file order. The structure must be verified.
std::uint64_t content_digest(const ModelFile& model);

}  // namespace idletune::model_schema
