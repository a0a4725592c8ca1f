#include "models/host/learn/sparse_times.hpp"

#include <cmath>
#include <numeric>

#include "models/host/learn/ridge.hpp"
#include "models/schema/model_generated.h"

namespace idletune::sparse {
namespace {

constexpr std::size_t kRow = kProductInputs + 1;

// Adds a row of coefficients; false where there are too few matrices.
bool fit(const Table& table, const std::vector<std::size_t>& matrices, std::size_t format,
         const std::vector<double>& ns, std::vector<float>& coefficients) {
  std::vector<double> rows;
  std::vector<double> targets;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    if (!(ns[i] > 0)) continue;
    const ProductInputs inputs = table.inputs(matrices[i], format);
    rows.insert(rows.end(), inputs.begin(), inputs.end());
    targets.push_back(std::log2(ns[i] / 1000));
  }
  if (targets.size() < kLeastMatrices) return false;
  const auto fitted = learners::ridge_regression(rows, kProductInputs, targets, kPenalty);
  if (!fitted.ok()) return false;
  for (const double value : *fitted) coefficients.push_back(static_cast<float>(value));
  return true;
}

}  // namespace

double LearnedTimes::predicted(const Table& table, std::size_t matrix, std::size_t i) const {
  const Span<const float> all(coefficients);
  const std::uint8_t format = table.candidates[candidates[i]].format;
  return product_time(all.subspan(i * kRow, kRow), table.inputs(matrix, format));
}

LearnedTimes learn_times(const Table& table, const std::vector<std::size_t>& matrices) {
  LearnedTimes learned;
  std::vector<double> ns(matrices.size());
  for (std::size_t c = 0; c < table.candidates.size(); ++c) {
    for (std::size_t i = 0; i < matrices.size(); ++i) ns[i] = table.ns[matrices[i]][c];
    if (fit(table, matrices, table.candidates[c].format, ns, learned.coefficients))
      learned.candidates.push_back(c);
  }
  for (std::size_t f = 0; f < kFormats; ++f) {
    for (std::size_t i = 0; i < matrices.size(); ++i)
      ns[i] = table.matrices[matrices[i]].conversion_ns[f];
    if (fit(table, matrices, f, ns, learned.conversion)) continue;
    learned.conversion.push_back(-2000);
    learned.conversion.resize((f + 1) * kRow, 0.0f);
  }
  return learned;
}

std::vector<std::uint8_t> write_product_times(const std::vector<Table>& tables) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<model_schema::ProductTimes>> devices;
  for (const Table& table : tables) {
    std::vector<std::size_t> all(table.matrices.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const LearnedTimes learned = learn_times(table, all);
    if (learned.empty()) continue;
    std::vector<std::int64_t> candidates;
    for (const std::size_t c : learned.candidates) {
      const ProductCandidate& candidate = table.candidates[c];
      candidates.push_back(candidate.format);
      candidates.push_back(candidate.kernel);
      candidates.push_back(candidate.work_group);
    }
    devices.push_back(model_schema::CreateProductTimesDirect(
        builder, table.device.c_str(), static_cast<std::uint32_t>(table.number_bytes), &candidates,
        &learned.coefficients, &learned.conversion));
  }
  if (devices.empty()) return {};
  builder.Finish(model_schema::CreateProductTimesSectionDirect(builder, &devices));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace idletune::sparse
