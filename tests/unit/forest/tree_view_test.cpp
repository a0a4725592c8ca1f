#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/forest/tree_view.hpp"
#include "tests/unit/forest/sound_forest.hpp"

using namespace idletune;
using namespace idletune::learners;

namespace {

TreeNode linked(TreeNode split, std::size_t distance) {
  split.set_link(distance);
  return split;
}

// x0 <= 1.5 ? (x1 in {0, 2} ? 10 : 20) : 30, spreads 1, 2, 3.
std::vector<TreeNode> small_tree() {
  return {linked(TreeNode::numeric_split(0, 1.5f), 4), linked(TreeNode::categorical_split(1, 5), 2),
          TreeNode::value_leaf(10, 1, 4), TreeNode::value_leaf(20, 2, 5),
          TreeNode::value_leaf(30, 3, 6)};
}

constexpr TreeShape kShape{2, 0};

void check_refused(const std::vector<TreeNode>& nodes, const std::string& text,
                   const TreeShape& shape = kShape) {
  const Status status = verify(nodes, shape);
  CAPTURE(status.message());
  CHECK(status.code() == StatusCode::corrupt);
  CHECK(status.message().find(text) != std::string::npos);
}

float value_of(const std::vector<TreeNode>& nodes, std::vector<float> row) {
  return TreeView(nodes).leaf(row).value();
}

// A tree whose left children are splits all the way down.
std::vector<TreeNode> chain(std::size_t height) {
  std::vector<TreeNode> nodes;
  for (std::size_t i = 0; i < height; ++i) {
    nodes.push_back(linked(TreeNode::numeric_split(0, 0), 2 * (height - i)));
  }
  for (std::size_t i = 0; i <= height; ++i)
    nodes.push_back(TreeNode::value_leaf(static_cast<float>(i), 0, 1));
  return nodes;
}

}  // namespace

TEST_CASE("a row goes left up to the threshold, and where its category is in the set") {
  const std::vector<TreeNode> nodes = small_tree();
  REQUIRE(verify(nodes, kShape).ok());
  CHECK(value_of(nodes, {1.5f, 0}) == 10);
  CHECK(value_of(nodes, {-100, 2}) == 10);
  CHECK(value_of(nodes, {1, 1}) == 20);
  CHECK(value_of(nodes, {std::nextafterf(1.5f, 2.0f), 0}) == 30);
}

TEST_CASE("what is no number, and what is no category, goes right") {
  const std::vector<TreeNode> nodes = small_tree();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(value_of(nodes, {nan, 0}) == 30);
  CHECK(value_of(nodes, {-infinity, 0}) == 10);
  for (const float category : {nan, infinity, -infinity, -1.0f, 32.0f, 1e30f}) {
    CHECK(value_of(nodes, {0, category}) == 20);
  }
}

TEST_CASE("a tree knows its leaves and its height") {
  const std::vector<TreeNode> nodes = small_tree();
  CHECK(TreeView(nodes).leaf_count() == 3);
  CHECK(TreeView(nodes).height() == 2);
  const std::vector<TreeNode> leaf{TreeNode::value_leaf(1, 0, 1)};
  CHECK(TreeView(leaf).leaf_count() == 1);
  CHECK(TreeView(leaf).height() == 0);
}

TEST_CASE("a leaf keeps its spread with three digits, never less than it was") {
  for (const float spread : {0.0f, 1e-20f, 0.1f, 1.0f, 3.14159f, 65537.0f, 3e38f}) {
    const float kept = TreeNode::value_leaf(0, spread, 1).spread();
    CHECK(kept >= spread * 0.9999f);
    CHECK(kept <= spread * 1.008f);
    CHECK(std::isfinite(kept));
  }
  CHECK(TreeNode::value_leaf(0, 0, 40000).rows() == 32767);
  CHECK(TreeNode::value_leaf(0, 0, 12).rows() == 12);
  CHECK(TreeNode::class_leaf(3, 0.25, 8).class_share() == doctest::Approx(0.25).epsilon(1e-4));
  CHECK(TreeNode::class_leaf(3, 1, 8).class_share() == 1.0f);
}

TEST_CASE("trees that are not sound are refused, with the node's number") {
  check_refused({}, "0 nodes");
  std::vector<TreeNode> nodes = small_tree();
  nodes.pop_back();
  check_refused(nodes, "node 0: the right child is out of range");
  nodes = small_tree();
  nodes.push_back(TreeNode::value_leaf(1, 0, 1));
  check_refused(nodes, "node 5: no split leads here");
  for (const std::size_t link : {0u, 1u, 5u, 65535u}) {
    nodes = small_tree();
    nodes[0].set_link(link);
    check_refused(nodes, "node 0: the right child is out of range");
  }
  nodes = small_tree();
  nodes[0].set_link(3);
  check_refused(nodes, "node 3: the next node");
  nodes = small_tree();
  nodes[1].set_link(3);
  check_refused(nodes, "node 2: the next node");
  nodes = {linked(TreeNode::numeric_split(0, 0), 2), TreeNode::value_leaf(0, 0, 1),
           TreeNode::numeric_split(0, 0)};
  check_refused(nodes, "node 2: the right child is out of range");
  check_refused(small_tree(), "node 1: the feature is out of range", {1, 0});
  nodes = small_tree();
  nodes[0] = linked(TreeNode::numeric_split(0, std::numeric_limits<float>::infinity()), 4);
  check_refused(nodes, "node 0: the threshold is not finite");
  nodes = small_tree();
  nodes[2] = TreeNode::value_leaf(std::numeric_limits<float>::quiet_NaN(), 0, 1);
  check_refused(nodes, "node 2: the value is not finite");
  nodes = small_tree();
  const std::uint16_t minus_one = 0xbf80;  // where a leaf's spread stands
  nodes[2] = TreeNode::value_leaf(0, 1, 1);
  std::memcpy(reinterpret_cast<char*>(&nodes[2]) + 6, &minus_one, sizeof minus_one);
  REQUIRE(nodes[2].spread() == -1);
  check_refused(nodes, "node 2: the spread");
  check_refused({TreeNode::class_leaf(3, 1, 1)}, "node 0: the class is out of range", {1, 3});
  CHECK(verify(std::vector<TreeNode>{TreeNode::class_leaf(2, 1, 1)}, {1, 3}).ok());
}

TEST_CASE("nodes are read where they stand in a file's bytes") {
  const std::vector<TreeNode> nodes = small_tree();
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(nodes.data());
  const auto read = tree_nodes_in({bytes, 40});
  REQUIRE(read.ok());
  CHECK(read->data() == nodes.data());
  CHECK(read->size() == 5);
  CHECK(tree_nodes_in({bytes, 39}).code() == StatusCode::corrupt);
  CHECK(tree_nodes_in({bytes + 2, 16}).code() == StatusCode::corrupt);
}

TEST_CASE("the bytes of a node never change their meaning") {
  std::vector<TreeNode> nodes = small_tree();
  nodes.push_back(TreeNode::class_leaf(0x1234, 1, 7));
  const std::uint8_t expected[] = {
      0x00, 0x00, 0xc0, 0x3f, 0x00, 0x00, 0x04, 0x00,  // feature 0 <= 1.5f, right child 4 further
      0x05, 0x00, 0x00, 0x00, 0x01, 0x40, 0x02, 0x00,  // feature 1 in {0, 2}, right child 2 further
      0x00, 0x00, 0x20, 0x41, 0x04, 0x80, 0x80, 0x3f,  // 10, 4 rows, spread 1
      0x00, 0x00, 0xa0, 0x41, 0x05, 0x80, 0x00, 0x40,  // 20, 5 rows, spread 2
      0x00, 0x00, 0xf0, 0x41, 0x06, 0x80, 0x40, 0x40,  // 30, 6 rows, spread 3
      0x34, 0x12, 0x00, 0x00, 0x07, 0x80, 0xff, 0xff};  // class 0x1234, 7 rows, share 1
  REQUIRE(sizeof expected == nodes.size() * sizeof(TreeNode));
  CHECK(std::memcmp(nodes.data(), expected, sizeof expected) == 0);
}

TEST_CASE("a tree may be as high as the limit and no higher") {
  CHECK(verify(chain(kMaxTreeHeight), {1, 0}).ok());
  check_refused(chain(kMaxTreeHeight + 1), "too high", {1, 0});
  const std::vector<TreeNode> highest = chain(kMaxTreeHeight);
  CHECK(TreeView(highest).height() == kMaxTreeHeight);
}

TEST_CASE("a forest averages its trees, and its spread has both parts") {
  std::vector<TreeNode> nodes = small_tree();
  nodes.push_back(TreeNode::value_leaf(14, 1, 1));
  const std::vector<std::uint32_t> starts{0, 5, 6};
  const ForestView forest{nodes, starts, kShape};
  REQUIRE(test::is_sound(forest));
  const std::vector<float> row{1, 0};
  const Prediction prediction = forest.predict(row);
  CHECK(prediction.value == 12);
  // Mean of variances 1 and 1; variance of means 10 and 14: 4.
  CHECK(prediction.spread == doctest::Approx(std::sqrt(5.0)));
  CHECK(forest.predict({row.data(), 1}).value == 0);
  CHECK(ForestView{}.predict(row).value == 0);
}

TEST_CASE("a forest's trees vote with the share of their leaf's class") {
  const auto winner = [](std::vector<TreeNode> leaves, std::uint32_t classes) {
    std::vector<std::uint32_t> starts;
    for (std::uint32_t i = 0; i <= leaves.size(); ++i) starts.push_back(i);
    const ForestView forest{leaves, starts, {1, classes}};
    REQUIRE(test::is_sound(forest));
    const float row[] = {0};
    return forest.predict(row).value;
  };
  CHECK(winner({TreeNode::class_leaf(1, 0.6, 1), TreeNode::class_leaf(0, 0.9, 1)}, 2) == 0);
  CHECK(winner({TreeNode::class_leaf(1, 0.6, 1), TreeNode::class_leaf(1, 0.6, 1),
                TreeNode::class_leaf(0, 0.65, 1)},
               2) == 1);
  CHECK(winner({TreeNode::class_leaf(2, 1, 1), TreeNode::class_leaf(1, 1, 1)}, 3) == 1);  // a tie
  CHECK(winner({TreeNode::class_leaf(0, 1, 1)}, 1) == 0);
}
