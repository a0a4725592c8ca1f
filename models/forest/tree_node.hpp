// The node of a decision tree as it stands in memory and in files: 8 bytes, little-endian.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "models/forest/dataset.hpp"

namespace idletune::learners {

inline constexpr std::size_t kMaxTreeNodes = 65535;  // a link is 16 bits
inline constexpr std::size_t kMaxTreeHeight = 128;   // splits on a path; bounds every stack
inline constexpr std::size_t kMaxTrees = 256;

// Nodes stand in preorder: the left child of a split follows it, the right child stands `link`
// nodes after it. So a child always comes after its parent.
class TreeNode {
 public:
  TreeNode() = default;  // a leaf of value 0, class 0

  // Rows with row[feature] <= threshold go left; NaN goes right.
  static TreeNode numeric_split(std::size_t feature, float threshold) {
    return TreeNode(bits_of(threshold), static_cast<std::uint16_t>(feature), 0);
  }
  // Rows whose category's bit is set go left; all else, also what is no category, goes right.
  static TreeNode categorical_split(std::size_t feature, std::uint32_t categories) {
    return TreeNode(categories, static_cast<std::uint16_t>(feature | kCategorical), 0);
  }
  // `spread` is kept with 8 significant bits, rounded up (never below the true one, unless 0).
  static TreeNode value_leaf(float value, float spread, std::size_t rows) {
    return TreeNode(bits_of(value), leaf_rows(rows), upper_half(spread));
  }
  // `share` of the leaf's rows that are of this class; kept in steps of 1/65535.
  static TreeNode class_leaf(std::uint32_t number, double share, std::size_t rows) {
    return TreeNode(number, leaf_rows(rows),
                    static_cast<std::uint16_t>(std::lround(share * 65535.0)));
  }

  // All of it as one number, so that one of two nodes can be chosen without a branch.
  std::uint64_t bits() const {
    return std::uint64_t{link_} << 48 | std::uint64_t{what_} << 32 | payload_;
  }
  static TreeNode from_bits(std::uint64_t bits) {
    return TreeNode(static_cast<std::uint32_t>(bits), static_cast<std::uint16_t>(bits >> 32),
                    static_cast<std::uint16_t>(bits >> 48));
  }

  bool is_leaf() const { return (what_ & kLeaf) != 0; }

  // Of a split.
  std::size_t feature() const { return what_ & kFeatureMask; }
  bool is_categorical() const { return (what_ & kCategorical) != 0; }
  float threshold() const { return float_of(payload_); }
  std::uint32_t threshold_bits() const { return payload_; }
  std::uint32_t categories() const { return payload_; }
  std::size_t link() const { return link_; }
  void set_link(std::size_t distance) { link_ = static_cast<std::uint16_t>(distance); }
  bool goes_left(float x) const {
    if (!is_categorical()) return x <= threshold();
    return x >= 0 && x < static_cast<float>(kMaxCategories) &&
           ((payload_ >> static_cast<std::uint32_t>(x)) & 1u) != 0;
  }

  // Of a leaf.
  float value() const { return float_of(payload_); }
  float spread() const { return float_of(static_cast<std::uint32_t>(link_) << 16); }
  std::uint32_t class_number() const { return payload_; }
  float class_share() const { return static_cast<float>(link_) / 65535.0f; }
  std::size_t rows() const { return what_ & kRowsMask; }  // of training; 32767: as many or more

 private:
  static constexpr std::uint16_t kLeaf = 0x8000;
  static constexpr std::uint16_t kCategorical = 0x4000;
  static constexpr std::uint16_t kFeatureMask = 0x3fff;
  static constexpr std::uint16_t kRowsMask = 0x7fff;

  TreeNode(std::uint32_t payload, std::uint16_t what, std::uint16_t link)
      : payload_(payload), what_(what), link_(link) {}
  static std::uint32_t bits_of(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
  }
  static float float_of(std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  static std::uint16_t upper_half(float x) {
    const std::uint32_t bits = bits_of(x);
    const std::uint32_t rounded = (bits & 0xffffu) != 0 ? bits + 0x10000u : bits;
    // The largest finite value, should rounding up reach infinity.
    return static_cast<std::uint16_t>(rounded >= 0x7f800000u ? 0x7f7f : rounded >> 16);
  }
  static std::uint16_t leaf_rows(std::size_t rows) {
    return static_cast<std::uint16_t>(kLeaf | (rows < kRowsMask ? rows : kRowsMask));
  }

  std::uint32_t payload_ = 0;   // threshold, set of categories, value, or class
  std::uint16_t what_ = kLeaf;  // leaf: bit 15, rows; split: bit 14 categorical, feature
  std::uint16_t link_ = 0;      // split: distance of the right child; leaf: spread or share
};
static_assert(sizeof(TreeNode) == 8, "nodes are stored as they are");
static_assert(kMaxFeatures <= 0x3fff, "a feature's number has 14 bits");

}  // namespace idletune::learners
