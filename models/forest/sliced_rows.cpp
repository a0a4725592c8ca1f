#include "models/forest/sliced_rows.hpp"

#include <cmath>
#include <string>

namespace idletune::learners {
namespace {

constexpr std::size_t kBlock = 64;    // rows per word
constexpr float kSteps = 4194304.0f;  // 2^22; the sum over kMaxTrees stays below 2^31

std::size_t blocks_of(std::size_t rows) { return (rows + kBlock - 1) / kBlock; }

std::uint32_t bits_for(std::size_t levels) {
  std::uint32_t bits = 0;
  while ((std::size_t{1} << bits) < levels) ++bits;
  return bits;
}

// The rows whose code, given as slices from the lowest bit up, is below `bound`.
std::uint64_t below(const std::uint64_t* slices, std::uint32_t count, std::uint32_t bound) {
  if (bound >= std::uint32_t{1} << count) return ~std::uint64_t{0};
  std::uint64_t less = 0;
  for (std::uint32_t b = 0; b < count; ++b) {
    const std::uint64_t bound_bit = std::uint64_t{0} - ((bound >> b) & 1u);
    less = (~slices[b] & (less | bound_bit)) | (less & bound_bit);
  }
  return less;
}

void add_to_rows(std::int32_t* sums, std::uint64_t rows, std::int32_t amount) {
  if (rows == ~std::uint64_t{0}) {
    for (std::size_t i = 0; i < kBlock; ++i) sums[i] += amount;
    return;
  }
  for (; rows != 0; rows &= rows - 1) sums[__builtin_ctzll(rows)] += amount;
}

Status wrong_rows(const std::string& what) {
  return Status(StatusCode::invalid_argument, "rows to predict for: " + what);
}

}  // namespace

Result<SlicedRows> SlicedRows::zeros(Span<const std::uint32_t> levels, std::size_t rows,
                                     std::size_t max_bytes) {
  if (levels.empty() || levels.size() > kMaxFeatures) {
    return wrong_rows(std::to_string(levels.size()) + " columns; expected 1 to " +
                      std::to_string(kMaxFeatures));
  }
  SlicedRows result;
  result.rows_ = rows;
  result.columns_.resize(levels.size());
  for (std::size_t c = 0; c < levels.size(); ++c) {
    if (levels[c] == 0 || levels[c] > kMaxLevels) {
      return wrong_rows("column " + std::to_string(c) + " has " + std::to_string(levels[c]) +
                        " levels; expected 1 to " + std::to_string(kMaxLevels));
    }
    Column& column = result.columns_[c];
    column.levels = levels[c];
    column.slices = bits_for(levels[c]);
    column.first_slice = static_cast<std::uint32_t>(result.slices_);
    result.slices_ += column.slices;
  }
  if (Status allocated = result.allocate(max_bytes); !allocated.ok()) return allocated;
  return result;
}

void SlicedRows::set(std::size_t row, Span<const std::uint16_t> codes) {
  std::uint64_t* block = words_.data() + row / kBlock * slices_;
  const std::uint64_t here = std::uint64_t{1} << (row % kBlock);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (std::uint32_t b = 0; b < columns_[c].slices; ++b) {
      std::uint64_t& word = block[columns_[c].first_slice + b];
      word = ((codes[c] >> b) & 1u) != 0 ? word | here : word & ~here;
    }
  }
}

void SlicedRows::get(std::size_t row, Span<float> values) const {
  const std::uint64_t* block = words_.data() + row / kBlock * slices_;
  const std::size_t here = row % kBlock;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t code = 0;
    for (std::uint32_t b = 0; b < columns_[c].slices; ++b) {
      code |= static_cast<std::size_t>((block[columns_[c].first_slice + b] >> here) & 1u) << b;
    }
    values[c] = static_cast<float>(code);
  }
}

Status SlicedRows::allocate(std::size_t max_bytes) {
  const std::size_t words = blocks_of(rows_) * slices_;
  const std::size_t needed = bytes() + words * sizeof(std::uint64_t);
  if (needed > max_bytes) {
    return Status(StatusCode::out_of_memory, "rows to predict for: " + std::to_string(needed) +
                                                 " bytes; the limit is " +
                                                 std::to_string(max_bytes));
  }
  words_.resize(words);
  return {};
}

std::size_t SlicedRows::bytes() const {
  return sizeof(SlicedRows) + columns_.size() * sizeof(Column) +
         words_.size() * sizeof(std::uint64_t);
}

SlicedRows::CodedTree SlicedRows::code_tree(TreeView tree) const {
  CodedTree coded;
  coded.splits.resize(tree.nodes().size());
  coded.ranges.reserve(tree.nodes().size() / 2);
  for (std::size_t n = 0; n < tree.nodes().size(); ++n) {
    const TreeNode& node = tree.nodes()[n];
    if (node.is_leaf()) continue;
    const Column& column = columns_[node.feature()];
    CodedSplit& split = coded.splits[n];
    split.first_slice = column.first_slice;
    split.slices = column.slices;
    split.first_range = static_cast<std::uint32_t>(coded.ranges.size());
    if (!node.is_categorical()) {
      const float end = std::floor(node.threshold()) + 1;
      const auto levels = static_cast<float>(column.levels);
      coded.ranges.push_back(
          {0, static_cast<std::uint32_t>(std::fmin(std::fmax(end, 0.0f), levels))});
    } else {
      bool inside = false;
      for (std::uint32_t code = 0; code < column.levels; ++code) {
        const bool left = node.goes_left(static_cast<float>(code));
        if (left && !inside) coded.ranges.push_back({code, code});
        if (left) coded.ranges.back().end = code + 1;
        inside = left;
      }
    }
    split.ranges = static_cast<std::uint32_t>(coded.ranges.size()) - split.first_range;
  }
  return coded;
}

void SlicedRows::add(TreeView tree, Span<const std::int32_t> amounts,
                     Span<std::int32_t> sums) const {
  struct Waiting {
    std::size_t node;
    std::uint64_t rows;
  };
  Waiting waiting[kMaxTreeHeight + 1];
  const CodedTree coded = code_tree(tree);
  const TreeNode* nodes = tree.nodes().data();
  for (std::size_t block = 0; block < blocks_of(rows_); ++block) {
    const std::uint64_t* slices = words_.data() + block * slices_;
    const std::size_t first = block * kBlock;
    const std::uint64_t all =
        rows_ - first >= kBlock ? ~std::uint64_t{0} : (std::uint64_t{1} << (rows_ - first)) - 1;
    std::size_t count = 0;
    waiting[count++] = {0, all};
    while (count > 0) {
      auto [at, here] = waiting[--count];
      while (!nodes[at].is_leaf()) {
        const CodedSplit& split = coded.splits[at];
        const std::uint64_t* own = slices + split.first_slice;
        std::uint64_t left = 0;
        for (std::uint32_t i = 0; i < split.ranges; ++i) {
          const CodeRange range = coded.ranges[split.first_range + i];
          const std::uint64_t before = range.begin == 0 ? 0 : below(own, split.slices, range.begin);
          left |= below(own, split.slices, range.end) & ~before;
        }
        left &= here;
        const std::uint64_t right = here & ~left;
        const std::size_t right_child = at + nodes[at].link();
        if (left == 0) {
          at = right_child;
          continue;
        }
        if (right != 0) waiting[count++] = {right_child, right};
        here = left;
        ++at;
      }
      add_to_rows(sums.data() + first, here, amounts[at]);
    }
  }
}

FollowedPredictions::FollowedPredictions(const SlicedRows& rows, const ForestView& forest,
                                         float scale)
    : rows_(rows),
      scale_(scale),
      step_(scale / kSteps / static_cast<float>(forest.tree_count())),
      sums_(rows.rows()) {
  for (std::size_t t = 0; t < forest.tree_count(); ++t) add(forest.tree(t), 1);
}

void FollowedPredictions::add(TreeView tree, int sign) {
  amounts_.resize(tree.nodes().size());
  for (std::size_t n = 0; n < amounts_.size(); ++n) {
    const TreeNode& node = tree.nodes()[n];
    const float share = node.is_leaf() ? node.value() / scale_ : 0.0f;
    const float clipped = std::fmin(std::fmax(share, -1.0f), 1.0f);
    amounts_[n] = sign * static_cast<std::int32_t>(std::lrint(clipped * kSteps));
  }
  rows_.add(tree, amounts_, sums_);
}

}  // namespace idletune::learners
