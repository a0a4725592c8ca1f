#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/core/digest.hpp"
#include "models/core/random.hpp"
#include "models/host/learners/tree_learners.hpp"
#include "tests/unit/forest/golden_file.hpp"
#include "tests/unit/forest/sound_forest.hpp"

using namespace idletune;
using namespace idletune::learners;
using test::GoldenFile;
using test::read_golden;

namespace {

Forest grown(const Dataset& data, const ForestOptions& options) {
  auto forest = Forest::grow(data, options);
  REQUIRE_MESSAGE(forest.ok(), forest.status().message());
  REQUIRE(test::is_sound(forest->view()));
  return std::move(*forest);
}

bool same(const Forest& a, const Forest& b) {
  const ForestView x = a.view(), y = b.view();
  return x.nodes.size() == y.nodes.size() &&
         std::equal(x.starts.begin(), x.starts.end(), y.starts.begin(), y.starts.end()) &&
         std::memcmp(x.nodes.data(), y.nodes.data(), x.nodes.size() * sizeof(TreeNode)) == 0;
}

// A hash of a forest's bytes, FNV-1a.
std::uint32_t fingerprint(const Forest& forest) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(forest.view().nodes.data());
  std::uint32_t hash = 2166136261u;
  for (std::size_t i = 0; i < forest.view().nodes.size() * sizeof(TreeNode); ++i) {
    hash = (hash ^ bytes[i]) * 16777619u;
  }
  return hash;
}

struct CountingListener : Forest::ChangeListener {
  void leaving(TreeView tree) override { left += tree.nodes().size(); }
  void arriving(TreeView tree) override { arrived += tree.nodes().size(); }
  std::size_t left = 0, arrived = 0;
};

}  // namespace

TEST_CASE("a forest depends on the seed alone") {
  const GoldenFile file = read_golden("gemm");
  ForestOptions options;
  options.trees = 8;
  CHECK(same(grown(file.training_data(), options), grown(file.training_data(), options)));
  ForestOptions other = options;
  other.seed = 2;
  CHECK(!same(grown(file.training_data(), options), grown(file.training_data(), other)));
}

TEST_CASE("a forest is the same, bit by bit, on every architecture") {
  ForestOptions options;
  options.trees = 8;
  options.tree.candidate_features = 2;
  // Recorded on x86-64; the same numbers are expected elsewhere.
  CHECK(fingerprint(grown(read_golden("gemm").training_data(), options)) == 622952811u);
  CHECK(fingerprint(grown(read_golden("blobs").training_data(), options)) == 342898974u);
  CHECK(fingerprint(grown(read_golden("categories").training_data(), options)) == 129225309u);
}

TEST_CASE("bootstrap leaves out about 37 percent of the rows of each tree") {
  const GoldenFile file = read_golden("friedman");
  ForestOptions options;
  options.trees = 100;
  options.tree.height = 0;
  const Forest forest = grown(file.training_data(), options);
  double mean = 0;
  for (std::size_t t = 0; t < 100; ++t)
    mean += static_cast<double>(forest.view().nodes[t].rows()) / 100;
  CHECK(mean / 150 == doctest::Approx(1 - std::exp(-1.0)).epsilon(0.02));
}

TEST_CASE("renewing replaces the oldest trees first and keeps the forest sound") {
  const GoldenFile file = read_golden("gemm");
  const Dataset all = file.training_data();
  const Dataset few{all.values.subspan(0, 50 * all.columns), all.columns, all.kinds,
                    all.targets.subspan(0, 50), 0};
  ForestOptions options;
  options.trees = 6;
  Forest forest = grown(few, options);
  const auto size_of_tree = [&](std::size_t i) { return forest.view().tree(i).nodes().size(); };
  std::vector<std::size_t> before;
  for (std::size_t i = 0; i < 6; ++i) before.push_back(size_of_tree(i));
  const std::size_t nodes_before = forest.view().nodes.size();
  CountingListener listener;
  REQUIRE(forest.renew(all, 2, &listener).ok());
  REQUIRE(test::is_sound(forest.view()));
  CHECK(listener.left == before[0] + before[1]);
  CHECK(listener.arrived == size_of_tree(0) + size_of_tree(1));
  CHECK(forest.view().nodes.size() == nodes_before - listener.left + listener.arrived);
  CHECK(size_of_tree(0) > before[0]);  // more rows, more leaves
  for (std::size_t i = 2; i < 6; ++i) CHECK(size_of_tree(i) == before[i]);
  REQUIRE(forest.renew(all, 4).ok());
  for (std::size_t i = 0; i < 6; ++i) CHECK(size_of_tree(i) > before[i]);
  REQUIRE(forest.renew(few, 100).ok());  // all, once
  REQUIRE(test::is_sound(forest.view()));
  for (std::size_t i = 0; i < 6; ++i) CHECK(size_of_tree(i) < 100);
}

TEST_CASE("a renewed forest is as good as one grown at once") {
  const GoldenFile file = read_golden("friedman");
  const Dataset all = file.training_data();
  const Dataset few{all.values.subspan(0, 20 * all.columns), all.columns, all.kinds,
                    all.targets.subspan(0, 20), 0};
  ForestOptions options;
  options.trees = 64;
  Forest renewed = grown(few, options);
  REQUIRE(renewed.renew(all, 64).ok());
  std::vector<double> predictions;
  for (std::size_t r = 0; r < 100; ++r) {
    predictions.push_back(
        static_cast<double>(renewed.view().predict(file.test_data().row(r)).value));
  }
  CHECK(score_of(predictions, file) > 0.8);
}

TEST_CASE("the spread is larger where there was little to learn from") {
  std::vector<float> values, targets;
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    const double x = i < 190 ? random.uniform() : 5 + 5 * random.uniform();
    values.push_back(static_cast<float>(x));
    targets.push_back(static_cast<float>(x * x));
  }
  const Forest forest = grown({values, 1, {}, targets, 0}, {});
  const float inside[] = {0.5f}, outside[] = {7.5f};
  CHECK(forest.view().predict(outside).spread > 10 * forest.view().predict(inside).spread);
}

TEST_CASE("predictions have the same bits on every processor") {
  std::vector<float> values, targets, spreads;
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    values.push_back(static_cast<float>(i));
    targets.push_back(3 + static_cast<float>(random.below(1024)) / 4194304);
  }
  const Forest forest = grown({values, 1, {}, targets, 0}, {});
  for (const float& value : values) spreads.push_back(forest.view().predict({&value, 1}).spread);
  CHECK(digest_of({reinterpret_cast<const std::uint8_t*>(spreads.data()),
                   spreads.size() * sizeof(float)}) == 584334002196801074ull);
}

TEST_CASE("a forest stays below its memory limit or is not grown") {
  const GoldenFile file = read_golden("gemm");
  ForestOptions options;
  options.max_bytes = Forest::bytes_needed(200, 10, 0, options);
  CHECK(grown(file.training_data(), options).view().nodes.size() * sizeof(TreeNode) <
        options.max_bytes);
  options.max_bytes -= 1;
  const auto refused = Forest::grow(file.training_data(), options);
  REQUIRE(!refused.ok());
  CHECK(refused.code() == StatusCode::out_of_memory);
  CHECK(refused.status().message().find("200 rows") != std::string::npos);
}

TEST_CASE("forests refuse options and data that make no sense") {
  const GoldenFile file = read_golden("friedman");
  const auto refused = [&](const ForestOptions& options) {
    return Forest::grow(file.training_data(), options).code() == StatusCode::invalid_argument;
  };
  ForestOptions options;
  options.trees = 0;
  CHECK(refused(options));
  options.trees = kMaxTrees + 1;
  CHECK(refused(options));
  options = {};
  options.tree.leaf_share = 2;
  CHECK(refused(options));
  Forest forest = grown(file.training_data(), {});
  const std::uint32_t before = fingerprint(forest);
  CHECK(forest.renew(read_golden("wave").training_data(), 1).code() ==
        StatusCode::invalid_argument);
  CHECK(fingerprint(forest) == before);
}
