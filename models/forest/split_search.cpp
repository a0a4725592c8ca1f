#include "models/forest/split_search.hpp"

#include <algorithm>
#include <cmath>

namespace idletune::learners {
namespace {

// Up to this many levels per row, counting into one bin per level is quicker than sorting.
constexpr std::size_t kLevelsPerRow = 4;

// The largest float that is not above the middle of a < b, and below b: x <= result exactly if
// x <= (a + b) / 2, for every float x.
float between(float a, float b) {
  const double middle = static_cast<double>(a) / 2 + static_cast<double>(b) / 2;
  float threshold = static_cast<float>(middle);
  if (static_cast<double>(threshold) > middle) threshold = std::nextafterf(threshold, a);
  return threshold < b ? threshold : a;
}

std::uint32_t bit_of(float category) {
  return std::uint32_t{1} << static_cast<std::uint32_t>(category);
}

double square_over(std::int64_t sum, std::uint32_t weight) {
  const double s = static_cast<double>(sum);
  return s * s / weight;
}

}  // namespace

SplitSearch::SplitSearch(const CodedTable& table) : table_(table) {
  bins_.reserve(std::min(table.max_levels(), table.rows()));
  by_code_.resize(table.max_levels());
  if (table.classes() != 0) {
    ordered_.resize(table.rows());
    left_.resize(table.classes());
    right_.resize(table.classes());
  }
  if (table.max_levels() > kLevelsPerRow) keys_.reserve(table.rows());
}

std::size_t SplitSearch::bytes_needed(std::size_t rows, std::uint32_t classes) {
  const std::size_t for_classes =
      classes != 0 ? rows * sizeof(std::uint32_t) + 2 * std::size_t{classes} * sizeof(std::uint32_t)
                   : 0;
  return rows * (2 * sizeof(Bin) + sizeof(std::uint64_t)) + for_classes;
}

bool SplitSearch::improve(Span<const std::uint32_t> rows, Span<const std::uint16_t> weights,
                          std::size_t feature, std::size_t leaf_rows, Split& best) {
  const Span<const std::uint16_t> codes = table_.codes(feature);
  fill_bins(rows, weights, codes, table_.levels(feature).size());
  if (bins_.size() < 2) return false;
  const bool categorical = table_.kind(feature) == FeatureKind::categorical;
  if (table_.classes() == 0) {
    if (categorical) order_categories(weights);
    sweep_targets(feature, leaf_rows, best);
    return true;
  }
  order_rows(rows, codes);
  for (const std::uint32_t r : rows) {
    right_[static_cast<std::size_t>(table_.targets()[r])] += weights[r];
  }
  if (categorical) order_categories(weights);
  sweep_classes(weights, feature, leaf_rows, best);
  for (const std::uint32_t r : rows) {
    const auto number = static_cast<std::size_t>(table_.targets()[r]);
    left_[number] = right_[number] = 0;
  }
  return true;
}

void SplitSearch::fill_bins(Span<const std::uint32_t> rows, Span<const std::uint16_t> weights,
                            Span<const std::uint16_t> codes, std::size_t levels) {
  bins_.clear();
  if (levels <= kLevelsPerRow * rows.size()) {
    fill_bins_by_counting(rows, weights, codes, levels);
  } else {
    fill_bins_by_sorting(rows, weights, codes);
  }
}

void SplitSearch::fill_bins_by_counting(Span<const std::uint32_t> rows,
                                        Span<const std::uint16_t> weights,
                                        Span<const std::uint16_t> codes, std::size_t levels) {
  const std::int32_t* targets = table_.targets().data();
  for (const std::uint32_t r : rows) {
    Bin& bin = by_code_[codes[r]];
    bin.sum += static_cast<std::int64_t>(targets[r]) * weights[r];
    bin.weight += weights[r];
    ++bin.rows;
  }
  std::uint32_t begin = 0;
  for (std::size_t code = 0; code < levels; ++code) {
    Bin& bin = by_code_[code];
    if (bin.rows == 0) continue;
    bin.code = static_cast<std::uint16_t>(code);
    bin.begin = begin;
    begin += bin.rows;
    bins_.push_back(bin);
    bin = Bin{};
  }
}

void SplitSearch::fill_bins_by_sorting(Span<const std::uint32_t> rows,
                                       Span<const std::uint16_t> weights,
                                       Span<const std::uint16_t> codes) {
  keys_.clear();
  for (const std::uint32_t r : rows) keys_.push_back(std::uint64_t{codes[r]} << 32 | r);
  std::sort(keys_.begin(), keys_.end());
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const auto code = static_cast<std::uint16_t>(keys_[i] >> 32);
    const auto r = static_cast<std::uint32_t>(keys_[i] & 0xffffffffu);
    if (bins_.empty() || bins_.back().code != code) {
      Bin bin{};
      bin.code = code;
      bin.begin = static_cast<std::uint32_t>(i);
      bins_.push_back(bin);
    }
    Bin& bin = bins_.back();
    bin.sum += static_cast<std::int64_t>(table_.targets()[r]) * weights[r];
    bin.weight += weights[r];
    ++bin.rows;
  }
}

void SplitSearch::order_rows(Span<const std::uint32_t> rows, Span<const std::uint16_t> codes) {
  // Each bin knows where its rows start; by_code_ counts how many of them are placed.
  for (const Bin& bin : bins_) by_code_[bin.code].begin = bin.begin;
  for (const std::uint32_t r : rows) ordered_[by_code_[codes[r]].begin++] = r;
  for (const Bin& bin : bins_) by_code_[bin.code].begin = 0;
}

void SplitSearch::order_categories(Span<const std::uint16_t> weights) {
  if (table_.classes() != 0) {
    std::uint32_t main_class = 0;
    for (std::uint32_t c = 0; c < table_.classes(); ++c) {
      if (right_[c] > right_[main_class]) main_class = c;
    }
    for (Bin& bin : bins_) {
      bin.sum = 0;
      for (std::uint32_t i = bin.begin; i < bin.begin + bin.rows; ++i) {
        const std::uint32_t r = ordered_[i];
        if (static_cast<std::uint32_t>(table_.targets()[r]) == main_class) bin.sum += weights[r];
      }
    }
  }
  std::sort(bins_.begin(), bins_.end(), [](const Bin& a, const Bin& b) {
    const double mean_a = static_cast<double>(a.sum) / a.weight;
    const double mean_b = static_cast<double>(b.sum) / b.weight;
    return mean_a != mean_b ? mean_a < mean_b : a.code < b.code;
  });
}

void SplitSearch::sweep_targets(std::size_t feature, std::size_t leaf_rows, Split& best) {
  std::int64_t right_sum = 0;
  std::uint32_t right_weight = 0, right_rows = 0;
  for (const Bin& bin : bins_) {
    right_sum += bin.sum;
    right_weight += bin.weight;
    right_rows += bin.rows;
  }
  std::int64_t left_sum = 0;
  std::uint32_t left_weight = 0, left_rows = 0;
  for (std::size_t cut = 1; cut < bins_.size(); ++cut) {
    const Bin& bin = bins_[cut - 1];
    left_sum += bin.sum;
    left_weight += bin.weight;
    left_rows += bin.rows;
    right_sum -= bin.sum;
    right_weight -= bin.weight;
    right_rows -= bin.rows;
    if (right_rows < leaf_rows) break;
    if (left_rows < leaf_rows) continue;
    // The sum of squared errors is a constant minus this.
    offer(square_over(left_sum, left_weight) + square_over(right_sum, right_weight), cut, feature,
          best);
  }
}

void SplitSearch::sweep_classes(Span<const std::uint16_t> weights, std::size_t feature,
                                std::size_t leaf_rows, Split& best) {
  std::int64_t right_squares = 0, left_squares = 0;  // sums over classes of squared weights
  std::int64_t right_weight = 0, left_weight = 0;
  std::uint32_t right_rows = 0, left_rows = 0;
  for (const Bin& bin : bins_) {
    right_weight += bin.weight;
    right_rows += bin.rows;
    for (std::uint32_t i = bin.begin; i < bin.begin + bin.rows; ++i) {
      // Builds up sum of c^2 row by row: (c + w)^2 - c^2.
      const std::uint32_t r = ordered_[i];
      std::uint32_t& built = left_[static_cast<std::size_t>(table_.targets()[r])];
      const std::int64_t w = weights[r];
      right_squares += w * (2 * static_cast<std::int64_t>(built) + w);
      built += weights[r];
    }
  }
  for (std::uint32_t i = 0; i < right_rows; ++i) {
    left_[static_cast<std::size_t>(table_.targets()[ordered_[i]])] = 0;
  }
  for (std::size_t cut = 1; cut < bins_.size(); ++cut) {
    const Bin& bin = bins_[cut - 1];
    for (std::uint32_t i = bin.begin; i < bin.begin + bin.rows; ++i) {
      const std::uint32_t r = ordered_[i];
      const auto number = static_cast<std::size_t>(table_.targets()[r]);
      const std::int64_t w = weights[r];
      left_squares += w * (2 * static_cast<std::int64_t>(left_[number]) + w);
      right_squares -= w * (2 * static_cast<std::int64_t>(right_[number]) - w);
      left_[number] += weights[r];
      right_[number] -= weights[r];
    }
    left_weight += bin.weight;
    left_rows += bin.rows;
    right_weight -= bin.weight;
    right_rows -= bin.rows;
    if (right_rows < leaf_rows) break;
    if (left_rows < leaf_rows) continue;
    // The weighted Gini impurity is a constant minus this.
    offer(static_cast<double>(left_squares) / static_cast<double>(left_weight) +
              static_cast<double>(right_squares) / static_cast<double>(right_weight),
          cut, feature, best);
  }
}

void SplitSearch::offer(double score, std::size_t cut, std::size_t feature, Split& best) const {
  if (score < best.score || (score == best.score && feature >= best.feature)) return;
  best.score = score;
  best.feature = static_cast<std::uint32_t>(feature);
  best.categorical = table_.kind(feature) == FeatureKind::categorical;
  const Span<const float> levels = table_.levels(feature);
  if (!best.categorical) {
    best.last_code = bins_[cut - 1].code;
    best.threshold = between(levels[bins_[cut - 1].code], levels[bins_[cut].code]);
    return;
  }
  std::uint32_t left = 0, seen = 0, left_rows = 0, right_rows = 0;
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    const std::uint32_t bit = bit_of(levels[bins_[i].code]);
    seen |= bit;
    if (i < cut) left |= bit;
    (i < cut ? left_rows : right_rows) += bins_[i].rows;
  }
  best.categories = left_rows >= right_rows ? left | ~seen : left;
}

}  // namespace idletune::learners
