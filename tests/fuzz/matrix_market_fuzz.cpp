// Matrix Market files. What is accepted is a matrix, and converts.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kernels/krylov/features.hpp"
#include "kernels/krylov/formats.hpp"
#include "kernels/krylov/matrix_market.hpp"

using namespace idletune;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = krylov::read_matrix_market(
      std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!read.ok()) {
    if (read.status().message().empty()) std::abort();
    return 0;
  }
  const krylov::SparsityPattern& pattern = read->matrix.pattern;
  if (!krylov::check(pattern).ok() || read->matrix.values.size() != pattern.entries()) std::abort();
  // A short file may promise many rows; only what they cost is of interest below.
  if (pattern.rows > 10000 || pattern.columns > 10000) return 0;
  (void)krylov::features_of(pattern);
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    const auto format = static_cast<krylov::SparseFormat>(i);
    const auto stored = krylov::convert(pattern, format, sizeof(double), 1 << 20);
    if (!stored.ok() && krylov::stored_bytes(pattern, format, sizeof(double)) <= 1 << 20) {
      std::abort();
    }
  }
  return 0;
}
