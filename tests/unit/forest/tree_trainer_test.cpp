#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include "models/forest/tree_trainer.hpp"
#include "models/forest/tree_view.hpp"
#include "models/host/learners/tree_learners.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::learners;

namespace {

struct TrainingData {
  std::vector<float> values;
  std::vector<FeatureKind> kinds;
  std::vector<float> targets;
  std::size_t columns = 0;
  std::uint32_t classes = 0;
  Dataset view() const { return {values, columns, kinds, targets, classes}; }
};

// Rows of few values, so that equal ones and ties occur.
TrainingData mixed_data(std::uint64_t seed, std::size_t rows, std::uint32_t classes) {
  Random random(seed);
  TrainingData data;
  data.columns = 3;
  data.classes = classes;
  data.kinds = {FeatureKind::numeric, FeatureKind::categorical, FeatureKind::numeric};
  for (std::size_t i = 0; i < rows; ++i) {
    data.values.push_back(static_cast<float>(random.below(5)));
    data.values.push_back(static_cast<float>(random.below(6)));
    data.values.push_back(static_cast<float>(random.uniform()));
    data.targets.push_back(classes != 0 ? static_cast<float>(random.below(classes))
                                        : static_cast<float>(8 * random.uniform() - 4));
  }
  return data;
}

std::vector<TreeNode> grown_tree(const TrainingData& data, const TreeOptions& options,
                                 std::vector<std::uint16_t> weights = {}, std::uint64_t seed = 1) {
  const auto table = required(CodedTable::build(data.view()));
  if (weights.empty()) weights.assign(data.targets.size(), 1);
  std::vector<TreeNode> nodes;
  Random random(seed);
  TreeTrainer trainer(table, options);
  const Status status = trainer.grow(weights, random, nodes);
  REQUIRE_MESSAGE(status.ok(), status.message());
  const Status sound = verify(nodes, {data.columns, data.classes});
  REQUIRE_MESSAGE(sound.ok(), sound.message());
  return nodes;
}

bool same_nodes(const std::vector<TreeNode>& a, const std::vector<TreeNode>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(TreeNode)) == 0;
}

// Sum of squared errors, or of Gini impurities times rows, when rows are parted by `left`.
double cost_of(const TrainingData& data, const std::vector<bool>& left) {
  double cost = 0;
  for (const bool side : {false, true}) {
    double count = 0, sum = 0, squares = 0;
    std::map<float, double> classes;
    for (std::size_t r = 0; r < left.size(); ++r) {
      if (left[r] != side) continue;
      const double target = static_cast<double>(data.targets[r]);
      ++count;
      sum += target;
      squares += target * target;
      ++classes[data.targets[r]];
    }
    if (count == 0) return 1e300;
    if (data.classes == 0) {
      cost += squares - sum * sum / count;
    } else {
      double same = 0;
      for (const auto& entry : classes) same += entry.second * entry.second;
      cost += count - same / count;
    }
  }
  return cost;
}

// The least cost over all thresholds of numeric features and all subsets of categories.
double least_cost(const TrainingData& data) {
  const std::size_t rows = data.targets.size();
  double least = 1e300;
  std::vector<bool> left(rows);
  for (std::size_t c = 0; c < data.columns; ++c) {
    if (data.kinds[c] == FeatureKind::categorical) {
      for (std::uint32_t set = 1; set < 63; ++set) {
        for (std::size_t r = 0; r < rows; ++r) {
          left[r] =
              (set >> static_cast<std::uint32_t>(data.values[r * data.columns + c]) & 1u) != 0;
        }
        least = std::min(least, cost_of(data, left));
      }
      continue;
    }
    for (std::size_t t = 0; t < rows; ++t) {
      for (std::size_t r = 0; r < rows; ++r) {
        left[r] = data.values[r * data.columns + c] <= data.values[t * data.columns + c];
      }
      least = std::min(least, cost_of(data, left));
    }
  }
  return least;
}

std::size_t rows_in_smallest_leaf(const std::vector<TreeNode>& nodes) {
  std::size_t least = SIZE_MAX;
  for (const TreeNode& node : nodes) {
    if (node.is_leaf()) least = std::min(least, node.rows());
  }
  return least;
}

}  // namespace

TEST_CASE("the first split is the best of all thresholds and of all sets of categories") {
  for (const std::uint32_t classes : {0u, 2u}) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const TrainingData data = mixed_data(seed, 30, classes);
      TreeOptions stump;
      stump.height = 1;
      const std::vector<TreeNode> nodes = grown_tree(data, stump);
      REQUIRE(nodes.size() == 3);
      std::vector<bool> left;
      for (std::size_t r = 0; r < data.targets.size(); ++r) {
        left.push_back(nodes[0].goes_left(data.view().row(r)[nodes[0].feature()]));
      }
      CHECK(cost_of(data, left) == doctest::Approx(least_cost(data)).epsilon(1e-9));
    }
  }
}

TEST_CASE("a leaf holds the mean and the deviation, or the most frequent class and its share") {
  TrainingData data;
  data.columns = 1;
  data.values = {1, 1, 1, 1};
  data.targets = {1, 2, 3, 6};
  const std::vector<TreeNode> mean = grown_tree(data, {});
  REQUIRE(mean.size() == 1);
  CHECK(mean[0].value() == 3);
  CHECK(mean[0].spread() == doctest::Approx(std::sqrt(3.5)).epsilon(0.01));
  CHECK(mean[0].rows() == 4);
  data.targets = {1, 2, 0, 2};
  data.classes = 3;
  const std::vector<TreeNode> share = grown_tree(data, {});
  REQUIRE(share.size() == 1);
  CHECK(share[0].class_number() == 2);
  CHECK(share[0].class_share() == doctest::Approx(0.5).epsilon(1e-4));
  data.targets = {1, 2, 1, 2};
  CHECK(grown_tree(data, {})[0].class_number() == 1);  // the lower of equals
}

TEST_CASE("an unlimited tree tells apart all rows that differ") {
  Random random(5);
  TrainingData data;
  data.columns = 2;
  for (int i = 0; i < 200; ++i) {
    data.values.push_back(static_cast<float>(random.uniform()));
    data.values.push_back(static_cast<float>(random.below(4)));
    data.targets.push_back(static_cast<float>(random.uniform()));
  }
  const std::vector<TreeNode> nodes = grown_tree(data, {});
  for (std::size_t r = 0; r < 200; ++r) {
    CHECK(TreeView(nodes).leaf(data.view().row(r)).value() ==
          doctest::Approx(data.targets[r]).epsilon(1e-6));
  }
}

TEST_CASE("height, leaf size and share are limits") {
  const TrainingData data = mixed_data(11, 200, 0);
  for (const std::size_t height : {0u, 1u, 2u, 4u, 8u}) {
    TreeOptions options;
    options.height = height;
    CHECK(TreeView(grown_tree(data, options)).height() <= height);
  }
  for (const std::size_t leaf : {2u, 4u, 30u}) {
    TreeOptions options;
    options.leaf_rows = leaf;
    CHECK(rows_in_smallest_leaf(grown_tree(data, options)) >= leaf);
  }
  for (const double share : {0.1, 0.2, 0.4, 0.5}) {
    TreeOptions options;
    options.leaf_share = share;
    CHECK(static_cast<double>(rows_in_smallest_leaf(grown_tree(data, options))) >= share * 200);
  }
  TreeOptions whole;
  whole.leaf_share = 1;
  CHECK(grown_tree(data, whole).size() == 1);
  TreeOptions splits;
  splits.split_rows = 201;
  CHECK(grown_tree(data, splits).size() == 1);
  CHECK(check(TreeOptions()).ok());
  for (const double share : {-0.1, 1.1, std::nan("")}) {
    TreeOptions wrong;
    wrong.leaf_share = share;
    CHECK(check(wrong).code() == StatusCode::invalid_argument);
  }
}

TEST_CASE("a path ends at the height that stacks are made for") {
  // Each row is far from all before it together, so that each split takes one row off.
  TrainingData data;
  data.columns = 1;
  float target = 1e-30f;
  for (int i = 0; i < 200; ++i) {
    data.values.push_back(static_cast<float>(i));
    data.targets.push_back(target);
    target *= 2;
  }
  const std::vector<TreeNode> nodes = grown_tree(data, {});
  CHECK(TreeView(nodes).height() <= kMaxTreeHeight);
  CHECK(TreeView(nodes).height() > 20);
}

TEST_CASE("a row of weight two counts as two rows") {
  for (const std::uint32_t classes : {0u, 3u}) {
    const TrainingData data = mixed_data(21, 60, classes);
    TrainingData doubled = data;
    std::vector<std::uint16_t> weights(60, 1);
    for (std::size_t r = 0; r < 60; r += 3) {
      weights[r] = 2;
      const Span<const float> row = data.view().row(r);
      doubled.values.insert(doubled.values.end(), row.begin(), row.end());
      doubled.targets.push_back(data.targets[r]);
    }
    TreeOptions options;
    options.height = 3;
    const std::vector<TreeNode> a = grown_tree(data, options, weights);
    const std::vector<TreeNode> b = grown_tree(doubled, options);
    REQUIRE(a.size() == b.size());
    for (std::size_t r = 0; r < 60; ++r) {
      const Span<const float> row = data.view().row(r);
      CHECK(TreeView(a).leaf_of(row) == TreeView(b).leaf_of(row));
      if (classes == 0) CHECK(TreeView(a).leaf(row).value() == TreeView(b).leaf(row).value());
      if (classes != 0)
        CHECK(TreeView(a).leaf(row).class_number() == TreeView(b).leaf(row).class_number());
    }
  }
}

TEST_CASE("rows of weight zero do not count") {
  const TrainingData data = mixed_data(31, 80, 0);
  TrainingData half = data;
  half.values.resize(40 * data.columns);
  half.targets.resize(40);
  // The same range of targets on either side: their steps are then the same.
  half.targets[0] = -4;
  half.targets[1] = 4;
  TrainingData whole = half;
  whole.values = data.values;
  whole.targets.insert(whole.targets.end(), data.targets.begin() + 40, data.targets.end());
  std::vector<std::uint16_t> weights(80, 0);
  std::fill_n(weights.begin(), 40, static_cast<std::uint16_t>(1));
  CHECK(same_nodes(grown_tree(whole, {}, weights), grown_tree(half, {})));
}

TEST_CASE("the order of rows makes no difference") {
  for (const std::uint32_t classes : {0u, 4u}) {
    const TrainingData data = mixed_data(41, 120, classes);
    TrainingData reversed = data;
    for (std::size_t r = 0; r < 120; ++r) {
      reversed.targets[r] = data.targets[119 - r];
      for (std::size_t c = 0; c < 3; ++c)
        reversed.values[r * 3 + c] = data.values[(119 - r) * 3 + c];
    }
    CHECK(same_nodes(grown_tree(data, {}), grown_tree(reversed, {})));
  }
}

TEST_CASE("among equally good splits the lower feature and the lower threshold win") {
  TrainingData data;
  data.columns = 2;
  data.values = {0, 0, 1, 1, 2, 2, 3, 3};
  data.targets = {0, 1, 0, 1};
  TreeOptions stump;
  stump.height = 1;
  const TreeNode root = grown_tree(data, stump)[0];
  CHECK(root.feature() == 0);
  CHECK(root.threshold() == 0.5f);
}

TEST_CASE("categories that a node never saw join the side with more rows") {
  TrainingData data;
  data.columns = 1;
  data.kinds = {FeatureKind::categorical};
  data.values = {0, 0, 0, 3, 3};
  data.targets = {1, 1, 1, 9, 9};
  CHECK(TreeView(grown_tree(data, {})).leaf(std::vector<float>{7}).value() == 1);
  data.targets = {9, 9, 9, 1, 1};
  CHECK(TreeView(grown_tree(data, {})).leaf(std::vector<float>{7}).value() == 9);
}

TEST_CASE("thresholds part neighbouring floats") {
  TrainingData data;
  data.columns = 1;
  const float low = 1.0f, high = std::nextafterf(1.0f, 2.0f);
  data.values = {low, high};
  data.targets = {1, 2};
  const std::vector<TreeNode> nodes = grown_tree(data, {});
  CHECK(TreeView(nodes).leaf(std::vector<float>{low}).value() == 1);
  CHECK(TreeView(nodes).leaf(std::vector<float>{high}).value() == 2);
}

TEST_CASE("candidate features are drawn from the seed, and widen until one varies") {
  Random random(9);
  TrainingData data;
  data.columns = 12;
  for (int i = 0; i < 50; ++i) {
    for (std::size_t c = 0; c < 12; ++c) {
      data.values.push_back(c == 7 ? static_cast<float>(random.uniform()) : 1.0f);
    }
    data.targets.push_back(static_cast<float>(random.uniform()));
  }
  TreeOptions options;
  options.candidate_features = 1;
  const std::vector<TreeNode> nodes = grown_tree(data, options);
  CHECK(nodes.size() == 99);

  const TrainingData varied = mixed_data(51, 100, 0);
  CHECK(same_nodes(grown_tree(varied, options, {}, 3), grown_tree(varied, options, {}, 3)));
  CHECK(!same_nodes(grown_tree(varied, options, {}, 3), grown_tree(varied, options, {}, 4)));
}

TEST_CASE("weights that are none are refused") {
  const TrainingData data = mixed_data(61, 10, 0);
  const auto table = required(CodedTable::build(data.view()));
  TreeTrainer trainer(table, {});
  Random random(1);
  std::vector<TreeNode> nodes;
  for (const std::vector<std::uint16_t>& weights :
       {std::vector<std::uint16_t>(10, 0), std::vector<std::uint16_t>(9, 1),
        std::vector<std::uint16_t>(11, 1)}) {
    CHECK(trainer.grow(weights, random, nodes).code() == StatusCode::invalid_argument);
  }
  CHECK(trainer.grow(std::vector<std::uint16_t>(10, 65535), random, nodes).ok());
}

TEST_CASE("a tree of more nodes than links reach is refused") {
  TrainingData data;
  data.columns = 1;
  for (int i = 0; i < 33000; ++i) {
    data.values.push_back(static_cast<float>(i));
    data.targets.push_back(static_cast<float>(i));
  }
  CartLearner learner;
  CHECK(learner.fit(data.view()).code() == StatusCode::out_of_memory);
}
