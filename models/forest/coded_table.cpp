#include "models/forest/coded_table.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace idletune::learners {
namespace {

constexpr int kTargetBits = 30;

// -0 and 0 are one level.
float canonical(float x) { return x + 0.0f; }

}  // namespace

Result<CodedTable> CodedTable::build(const Dataset& data) {
  if (Status sound = check(data); !sound.ok()) return sound;
  CodedTable table;
  table.classes_ = data.classes;
  table.kinds_.reserve(data.columns);
  for (std::size_t c = 0; c < data.columns; ++c) table.kinds_.push_back(data.kind(c));
  table.code_targets(data);
  table.codes_.resize(data.rows() * data.columns);
  table.level_starts_.reserve(data.columns + 1);
  table.level_starts_.push_back(0);
  for (std::size_t c = 0; c < data.columns; ++c) {
    if (Status coded = table.code_column(data, c); !coded.ok()) return coded;
  }
  return table;
}

Status CodedTable::code_column(const Dataset& data, std::size_t column) {
  std::vector<float> sorted(data.rows());
  for (std::size_t r = 0; r < data.rows(); ++r) sorted[r] = canonical(data.row(r)[column]);
  std::vector<float> distinct;
  for (const float x : sorted) {
    // Tuning parameters have few values, so that most rows bring nothing new.
    const auto at = std::lower_bound(distinct.begin(), distinct.end(), x);
    if (at != distinct.end() && *at == x) continue;
    if (distinct.size() == 64) {
      distinct.clear();
      break;
    }
    distinct.insert(at, x);
  }
  if (distinct.empty()) {
    distinct = sorted;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  }
  if (distinct.size() > kMaxLevels) {
    return Status(StatusCode::invalid_argument,
                  "data to learn from: column " + std::to_string(column) + " has " +
                      std::to_string(distinct.size()) + " distinct values; expected at most " +
                      std::to_string(kMaxLevels));
  }
  std::uint16_t* codes = codes_.data() + column * rows();
  for (std::size_t r = 0; r < rows(); ++r) {
    codes[r] = static_cast<std::uint16_t>(
        std::lower_bound(distinct.begin(), distinct.end(), sorted[r]) - distinct.begin());
  }
  levels_.insert(levels_.end(), distinct.begin(), distinct.end());
  level_starts_.push_back(static_cast<std::uint32_t>(levels_.size()));
  max_levels_ = std::max(max_levels_, distinct.size());
  return {};
}

void CodedTable::code_targets(const Dataset& data) {
  targets_.reserve(data.rows());
  if (data.is_classification()) {
    for (const float target : data.targets) targets_.push_back(static_cast<std::int32_t>(target));
    return;
  }
  const auto [low, high] = std::minmax_element(data.targets.begin(), data.targets.end());
  offset_ = (static_cast<double>(*low) + static_cast<double>(*high)) / 2;
  const double reach = static_cast<double>(*high) - offset_;
  if (reach > 0) {
    int exponent = 0;
    std::frexp(reach, &exponent);  // reach < 2^exponent
    step_ = std::ldexp(1.0, exponent - kTargetBits);
  }
  for (const float target : data.targets) {
    targets_.push_back(
        static_cast<std::int32_t>(std::lround((static_cast<double>(target) - offset_) / step_)));
  }
}

std::size_t CodedTable::bytes_needed(std::size_t rows, std::size_t columns) {
  // Codes, levels at their worst (twice while their vector grows), targets, and a column's two
  // temporary copies.
  return rows * columns * (sizeof(std::uint16_t) + 2 * sizeof(float)) +
         rows * (sizeof(std::int32_t) + 2 * sizeof(float)) +
         (columns + 1) * (sizeof(std::uint32_t) + sizeof(FeatureKind)) + sizeof(CodedTable);
}

}  // namespace idletune::learners
