#include "kernels/krylov/model_choice.hpp"

#include <utility>

#include "kernels/krylov/features.hpp"
#include "kernels/krylov/formats.hpp"

namespace idletune::krylov {
namespace {

static_assert(kFeatures == kMatrixFeatures, "the model's inputs are the features");

KernelVariant variant_of(const ProductCandidate& candidate) {
  return {candidate.kernel, static_cast<std::int32_t>(candidate.work_group)};
}

}  // namespace

Status ModelChoice::open(Bytes model, std::string_view device, std::size_t number_bytes) {
  if (model.empty()) return {};
  auto times = ProductTimes::open(model, device, number_bytes);
  if (times.code() == StatusCode::not_found) return {};
  if (!times.ok()) return times.status();
  times_ = std::move(*times);
  expected_.reserve(times_.size());
  return {};
}

void ModelChoice::look_at(const SparsityPattern& pattern) {
  const auto features = features_of(pattern);
  ProductInputs inputs[kSparseFormats];
  for (std::size_t f = 0; f < kSparseFormats; ++f) {
    const auto format = static_cast<SparseFormat>(f);
    inputs[f] = product_inputs(features, static_cast<double>(stored_slots(pattern, format)));
  }
  choose(inputs);
}

void ModelChoice::choose(const ProductInputs (&inputs)[kSparseFormats]) {
  for (std::size_t f = 0; f < kSparseFormats; ++f) {
    conversion_us_[f] = times_.conversion_us(static_cast<std::uint8_t>(f), inputs[f]);
  }
  expected_.clear();
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const ProductCandidate candidate = times_.candidate(i);
    if (candidate.format >= kSparseFormats) continue;  // of a later version
    expected_.push_back({candidate, times_.microseconds(i, inputs[candidate.format])});
    // Some hundred: sorted as they come, which takes a tenth of the code of std::sort.
    for (std::size_t at = expected_.size(); --at > 0 && expected_[at].us < expected_[at - 1].us;)
      std::swap(expected_[at], expected_[at - 1]);
  }
  looked_ = true;
}

double ModelChoice::product_us(SparseFormat format, KernelVariant variant) const {
  for (const Expected& expected : expected_) {
    const KernelVariant found = variant_of(expected.candidate);
    if (expected.candidate.format == static_cast<std::uint8_t>(format) &&
        found.kind == variant.kind && found.work_group == variant.work_group)
      return expected.us;
  }
  return 0;
}

double ModelChoice::best_us(SparseFormat format) const {
  for (const Expected& expected : expected_) {
    if (expected.candidate.format == static_cast<std::uint8_t>(format)) return expected.us;
  }
  return 0;
}

double ModelChoice::conversion_us(SparseFormat format) const {
  return conversion_us_[static_cast<std::size_t>(format)];
}

std::vector<KernelVariant> ModelChoice::fastest(SparseFormat format, std::size_t most) const {
  std::vector<KernelVariant> found;
  for (const Expected& expected : expected_) {
    if (found.size() == most) break;
    if (expected.candidate.format == static_cast<std::uint8_t>(format))
      found.push_back(variant_of(expected.candidate));
  }
  return found;
}

}  // namespace idletune::krylov
