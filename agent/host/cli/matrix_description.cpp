#include "agent/host/cli/matrix_description.hpp"

#include "kernels/krylov/features.hpp"
#include "kernels/krylov/formats.hpp"
#include "models/host/history/compression.hpp"

namespace idletune::cli {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{4} << 30;
constexpr std::string_view kBanner = "%%MatrixMarket";

}  // namespace

bool may_be_matrix(const std::vector<std::uint8_t>& bytes) {
  return has_gzip_magic(bytes) || (bytes.size() > kBanner.size() &&
                                   std::equal(kBanner.begin(), kBanner.end(), bytes.begin()));
}

Result<krylov::MatrixMarket> read_matrix(const std::vector<std::uint8_t>& bytes,
                                         const std::string& path) {
  std::string unpacked;
  const auto text = gunzip(bytes, kMaxTextBytes, path, unpacked);
  if (!text.ok()) return text.status();
  if (text->truncated) {
    return {StatusCode::corrupt, "%: what gzip packed is damaged, or is not all there", path};
  }
  return krylov::read_matrix_market(text->text, path);
}

json features_object(const krylov::SparsityPattern& pattern) {
  json features = json::object();
  const auto values = krylov::features_of(pattern);
  for (std::size_t i = 0; i < krylov::kFeatures; ++i)
    features[krylov::kFeatureNames[i]] = values[i];
  return features;
}

Result<json> describe_matrix(const std::vector<std::uint8_t>& bytes, const std::string& path) {
  const auto read = must(read_matrix(bytes, path));
  const krylov::SparsityPattern& pattern = read.matrix.pattern;
  json format_bytes = json::object();
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    const auto format = static_cast<krylov::SparseFormat>(i);
    format_bytes[krylov::sparse_format_name(format)] =
        krylov::stored_bytes(pattern, format, sizeof(float));
  }
  return joined(IDLETUNE_FIELDS(read, field, symmetry, explicit_zeros, duplicates),
                {{"format", "sparse matrix"},
                 {"rows", pattern.rows},
                 {"columns", pattern.columns},
                 {"nonzeros", pattern.entries()},
                 {"features", features_object(pattern)},
                 {"bytes_in_f32", format_bytes}});
}

}  // namespace idletune::cli
