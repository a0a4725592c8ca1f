#include <idletune/product_times.hpp>

#include <cmath>

#include "models/predict/model.hpp"
#include "models/predict/model_format.hpp"
#include "models/schema/model_generated.h"
#include "models/schema/model_layout.hpp"

namespace idletune {
namespace {

using table_layout::text_of;
using table_layout::values_of;

constexpr std::size_t kRow = kProductInputs + 1;  // coefficients of a candidate or format

Status damaged(const char* what) {
  return {StatusCode::corrupt, "the model's times of products: %", what};
}

bool finite(Span<const float> numbers) {
  for (const float number : numbers) {
    if (!std::isfinite(number)) return false;
  }
  return true;
}

const char* problem_in(const model_schema::ProductTimes& times) {
  const auto candidates = values_of(times.candidates());
  const std::size_t count = candidates.size() / 3;
  if (candidates.size() % 3 != 0 || count == 0 || count > kMaxProductCandidates)
    return "the number of candidates";
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t* row = &candidates[3 * i];
    const bool fine = row[0] >= 0 && row[0] < static_cast<std::int64_t>(kMaxProductFormats) &&
                      row[1] >= 0 && row[1] <= kMaxRowItems && (row[1] & (row[1] - 1)) == 0 &&
                      row[2] >= 1 && row[2] <= 65536 && row[1] <= row[2];
    if (!fine) return "a candidate";
  }
  if (values_of(times.coefficients()).size() != count * kRow) return "the number of coefficients";
  const std::size_t formats = values_of(times.conversion()).size();
  if (formats % kRow != 0 || formats > kMaxProductFormats * kRow)
    return "the number of coefficients of conversions";
  if (!finite(values_of(times.coefficients())) || !finite(values_of(times.conversion())))
    return "a number that is not finite";
  return nullptr;
}

const model_schema::ProductTimesSection* section_of(const Model& model, bool& broken) {
  const auto* file = flatbuffers::GetRoot<model_schema::ModelFile>(model.bytes().data());
  for (const model_schema::KernelEntry* kernel : *file->kernels()) {
    if (text_of(kernel->name()) != kProductsEntry) continue;
    for (const model_schema::Section* section : *kernel->sections()) {
      if (section->kind() != static_cast<std::uint32_t>(model_schema::SectionKind::products) ||
          section->version() != model_schema::kSectionVersion)
        continue;
      const std::uint8_t* data = section->bytes()->data();
      const table_layout::Limits limits{4, 256};
      broken = reinterpret_cast<std::uintptr_t>(data) % 8 != 0 ||
               !table_layout::is_flatbuffer(data, section->bytes()->size(),
                                            model_schema::layout::kTables,
                                            model_schema::at_product_times_section, limits);
      return broken ? nullptr : flatbuffers::GetRoot<model_schema::ProductTimesSection>(data);
    }
  }
  return nullptr;
}

}  // namespace

ProductInputs product_inputs(Span<const double> features, double slots) {
  ProductInputs inputs{};
  for (std::size_t i = 0; i < kMatrixFeatures && i < features.size(); ++i)
    inputs[i] = std::log2(1 + features[i]);
  inputs[kMatrixFeatures] = std::log2(1 + slots);
  return inputs;
}

double product_time(Span<const float> coefficients, const ProductInputs& inputs) {
  double sum = static_cast<double>(coefficients[0]);
  for (std::size_t i = 0; i < kProductInputs; ++i)
    sum += static_cast<double>(coefficients[i + 1]) * inputs[i];
  return std::exp2(sum);
}

Result<ProductTimes> ProductTimes::open(Bytes model, std::string_view device,
                                        std::size_t number_bytes) {
  ProductTimes found;
  auto opened = Model::open({model.begin(), model.end()}, "of products");
  if (!opened.ok()) return opened.status();
  found.model_ = std::move(*opened);
  bool broken = false;
  const auto* section = section_of(*found.model_, broken);
  if (broken) return damaged("a damaged section");
  if (section != nullptr) {
    for (const model_schema::ProductTimes* times : *section->devices()) {
      if (text_of(times->device()) != device || times->number_bytes() != number_bytes) continue;
      if (const char* problem = problem_in(*times)) return damaged(problem);
      found.candidates_ = values_of(times->candidates());
      found.coefficients_ = values_of(times->coefficients());
      found.conversion_ = values_of(times->conversion());
      return found;
    }
  }
  return {StatusCode::not_found, "the model says nothing of products on '%'", device};
}

ProductCandidate ProductTimes::candidate(std::size_t i) const {
  return {static_cast<std::uint8_t>(candidates_[3 * i]),
          static_cast<std::uint8_t>(candidates_[3 * i + 1]),
          static_cast<std::uint32_t>(candidates_[3 * i + 2])};
}

double ProductTimes::microseconds(std::size_t candidate, const ProductInputs& inputs) const {
  return product_time(coefficients_.subspan(candidate * kRow, kRow), inputs);
}

double ProductTimes::conversion_us(std::uint8_t format, const ProductInputs& inputs) const {
  if ((format + std::size_t{1}) * kRow > conversion_.size()) return 0;
  return product_time(conversion_.subspan(format * kRow, kRow), inputs);
}

}  // namespace idletune
