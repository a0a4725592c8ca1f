#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "models/core/random.hpp"
#include "models/forest/sliced_rows.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::learners;

namespace {

using Codes = std::vector<std::uint16_t>;

struct Space {
  std::vector<float> rows;
  std::vector<FeatureKind> kinds;
  std::vector<std::uint32_t> levels;
  SlicedRows sliced;
  std::size_t columns = 6;
  std::size_t size() const { return rows.size() / columns; }
  Span<const float> row(std::size_t i) const { return {rows.data() + i * columns, columns}; }
};

// The fourth and fifth column are without order.
Space some_space(std::size_t count, std::uint64_t seed,
                 const std::vector<std::uint32_t>& levels = {1, 2, 3, 5, 32, 200}) {
  Random random(seed);
  Space space{{}, {}, levels, required(SlicedRows::zeros(levels, count))};
  space.kinds = {FeatureKind::numeric,     FeatureKind::numeric,     FeatureKind::numeric,
                 FeatureKind::categorical, FeatureKind::categorical, FeatureKind::numeric};
  for (std::size_t i = 0; i < count; ++i) {
    Codes codes;
    for (const std::uint32_t count_of : levels) {
      codes.push_back(static_cast<std::uint16_t>(count_of - 1));
    }
    space.sliced.set(i, codes);  // what a later set replaces
    for (std::uint16_t& code : codes) {
      code = static_cast<std::uint16_t>(random.below(code + 1u));
      space.rows.push_back(code);
    }
    space.sliced.set(i, codes);
  }
  return space;
}

struct Learned {
  std::vector<float> values, targets;
  Dataset data(const Space& space) const {
    return {values, space.columns, space.kinds, targets, 0};
  }
};

Learned learn_from(const Space& space, std::size_t count) {
  Learned learned;
  for (std::size_t i = 0; i < count; ++i) {
    const Span<const float> row = space.row(i * space.size() / count);
    learned.values.insert(learned.values.end(), row.begin(), row.end());
    learned.targets.push_back(100 + row[1] * row[2] - std::fabs(row[3] - 2) * row[5] / 200 +
                              std::sin(row[4]));
  }
  return learned;
}

Forest forest_of(const Dataset& data, std::size_t trees) {
  ForestOptions options;
  options.trees = trees;
  return required(Forest::grow(data, options));
}

}  // namespace

TEST_CASE("each row holds what was set and ends in exactly one leaf") {
  const Space known = some_space(500, 5);
  const Learned learned = learn_from(known, 100);
  const Forest forest = forest_of(learned.data(known), 1);
  const TreeView tree = forest.view().tree(0);
  std::vector<std::int32_t> numbers;
  for (std::size_t n = 0; n < tree.nodes().size(); ++n)
    numbers.push_back(static_cast<std::int32_t>(n));
  for (const std::size_t count : {1u, 63u, 64u, 65u, 777u}) {
    CAPTURE(count);
    // Also of values that no tree has seen, beyond all categories.
    const Space space = some_space(count, count, {3, 2, 4, 40, 40, 300});
    std::vector<std::int32_t> sums(count);
    space.sliced.add(tree, numbers, sums);
    std::vector<float> row(space.columns);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(sums[i] == static_cast<std::int32_t>(tree.leaf_of(space.row(i))));
      space.sliced.get(i, row);
      CHECK(std::equal(row.begin(), row.end(), space.row(i).begin()));
    }
  }
}

TEST_CASE("followed predictions are those of the renewed forest, after any number of steps") {
  const Space space = some_space(400, 6);
  const Learned learned = learn_from(space, 200);
  const Dataset all = learned.data(space);
  const auto first = [&](std::size_t rows) {
    return Dataset{all.values.subspan(0, rows * all.columns), all.columns, all.kinds,
                   all.targets.subspan(0, rows), 0};
  };
  Forest forest = forest_of(first(10), 7);
  FollowedPredictions followed(space.sliced, forest.view(), 400);
  for (std::size_t step = 10; step < 200; step += 3) {
    REQUIRE(forest.renew(first(step), 2, &followed).ok());
  }
  for (std::size_t i = 0; i < space.size(); ++i) {
    CHECK(std::fabs(followed.mean(i) - forest.view().predict(space.row(i)).value) <
          400.0f / 4194304.0f * 4);
  }
}

TEST_CASE("rows take a few bits per value") {
  const Space space = some_space(6400, 7);
  const std::size_t bytes = space.sliced.bytes(), words = 6400 / 64 * (0 + 1 + 2 + 3 + 5 + 8) * 8;
  CHECK(bytes >= words);
  CHECK(bytes <= words + 1000);
  CHECK(SlicedRows::zeros(space.levels, 6400, bytes - 1).code() == StatusCode::out_of_memory);
  CHECK(SlicedRows::zeros(space.levels, 6400, bytes).ok());
}

TEST_CASE("rows of zeros are refused where columns, levels or memory do not do") {
  CHECK(SlicedRows::zeros({}, 4).status().code() == StatusCode::invalid_argument);
  CHECK(SlicedRows::zeros(std::vector<std::uint32_t>{2, 0}, 4).status().code() ==
        StatusCode::invalid_argument);
  CHECK(SlicedRows::zeros(std::vector<std::uint32_t>{65537}, 4).status().code() ==
        StatusCode::invalid_argument);
  CHECK(SlicedRows::zeros(std::vector<std::uint32_t>{256}, 6400, 1000).status().code() ==
        StatusCode::out_of_memory);
}
