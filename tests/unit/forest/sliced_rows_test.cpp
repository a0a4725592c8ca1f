#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/core/random.hpp"
#include "models/forest/sliced_rows.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::learners;

namespace {

struct Space {
  std::vector<float> rows;
  std::vector<FeatureKind> kinds;
  std::size_t columns = 0;
  std::size_t size() const { return rows.size() / columns; }
  Span<const float> row(std::size_t i) const { return {rows.data() + i * columns, columns}; }
};

// Columns with 1, 2, 3, 5, 32 and many values, the fourth and fifth without order.
Space some_space(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  Space space;
  space.columns = 6;
  space.kinds = {FeatureKind::numeric,     FeatureKind::numeric,     FeatureKind::numeric,
                 FeatureKind::categorical, FeatureKind::categorical, FeatureKind::numeric};
  for (std::size_t i = 0; i < count; ++i) {
    const float values[] = {7,
                            static_cast<float>(random.below(2)),
                            static_cast<float>(16 << random.below(3)),
                            static_cast<float>(random.below(5)),
                            static_cast<float>(random.below(32)),
                            static_cast<float>(random.uniform())};
    space.rows.insert(space.rows.end(), values, values + 6);
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
    learned.targets.push_back(100 + row[1] * row[2] - std::fabs(row[3] - 2) * row[5] +
                              std::sin(row[4]));
  }
  return learned;
}

Forest forest_of(const Dataset& data, std::size_t trees) {
  ForestOptions options;
  options.trees = trees;
  return required(Forest::grow(data, options));
}

SlicedRows sliced(const Space& space) {
  return required(SlicedRows::build(space.rows, space.columns));
}

}  // namespace

TEST_CASE("sliced rows predict what each row predicts, whatever their number") {
  for (const std::size_t count : {1u, 63u, 64u, 65u, 1000u}) {
    CAPTURE(count);
    const Space space = some_space(count, count);
    const Learned learned = learn_from(space, std::min<std::size_t>(count, 80));
    const Forest forest = forest_of(learned.data(space), 10);
    const SlicedRows rows = sliced(space);
    std::vector<float> means(count), spreads(count), means_alone(count);
    rows.predict(forest.view(), means, spreads);
    rows.predict(forest.view(), means_alone, {});
    for (std::size_t i = 0; i < count; ++i) {
      const Prediction plain = forest.view().predict(space.row(i));
      CHECK(means[i] == doctest::Approx(plain.value).epsilon(1e-6));
      CHECK(std::fabs(spreads[i] - plain.spread) < 0.05);  // of a range of about 60
      CHECK(means_alone[i] == means[i]);
    }
  }
}

TEST_CASE("rows may hold values that no tree has seen") {
  const Space space = some_space(500, 3);
  const Learned learned = learn_from(space, 20);
  const Forest forest = forest_of(learned.data(space), 4);
  Space other = some_space(300, 4);
  for (float& x : other.rows) x = x * 1.5f - 3;  // negative, fractions, beyond all categories
  const SlicedRows rows = sliced(other);
  std::vector<float> means(300);
  rows.predict(forest.view(), means, {});
  for (std::size_t i = 0; i < 300; ++i) {
    CHECK(means[i] == doctest::Approx(forest.view().predict(other.row(i)).value).epsilon(1e-6));
  }
}

TEST_CASE("each row ends in exactly one leaf") {
  const Space space = some_space(777, 5);
  const Learned learned = learn_from(space, 100);
  const Forest forest = forest_of(learned.data(space), 1);
  const TreeView tree = forest.view().tree(0);
  std::vector<std::int32_t> numbers, sums(777);
  for (std::size_t n = 0; n < tree.nodes().size(); ++n)
    numbers.push_back(static_cast<std::int32_t>(n));
  const SlicedRows rows = sliced(space);
  rows.add(tree, numbers, sums);
  for (std::size_t i = 0; i < 777; ++i) {
    CHECK(sums[i] == static_cast<std::int32_t>(tree.leaf_of(space.row(i))));
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
  const SlicedRows rows = sliced(space);
  FollowedPredictions followed(rows, forest.view(), 400);
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
  const SlicedRows rows = sliced(space);
  // 0 + 1 + 2 + 3 + 5 + 13 bits per row, and the 6,400 distinct values of the last column.
  const std::size_t words = 6400 / 64 * (0 + 1 + 2 + 3 + 5 + 13) * 8;
  CHECK(rows.bytes() >= words);
  CHECK(rows.bytes() <= words + 6400 * 4 + 1000);
  CHECK(SlicedRows::build(space.rows, space.columns, rows.bytes() - 1).code() ==
        StatusCode::out_of_memory);
  CHECK(SlicedRows::build(space.rows, space.columns, rows.bytes()).ok());
}

TEST_CASE("rows that are none are refused") {
  const std::vector<float> values{1, 2, std::numeric_limits<float>::quiet_NaN(), 4};
  const auto refused = SlicedRows::build(values, 2);
  REQUIRE(!refused.ok());
  CHECK(refused.code() == StatusCode::invalid_argument);
  CHECK(refused.status().message().find("row 1, column 0") != std::string::npos);
  CHECK(SlicedRows::build(values, 3).code() == StatusCode::invalid_argument);
  CHECK(SlicedRows::build(values, 0).code() == StatusCode::invalid_argument);
  CHECK(SlicedRows::build({}, 2)->rows() == 0);
}

TEST_CASE("rows that are set one by one hold what was set and predict like rows built at once") {
  const std::vector<std::uint32_t> levels{5, 1, 32, 3};
  constexpr std::size_t kRows = 200;
  auto rows = required(SlicedRows::zeros(levels, kRows));
  Random random(4);
  std::vector<float> values, targets;
  std::vector<std::uint16_t> codes(levels.size());
  for (std::size_t r = 0; r < kRows; ++r) {
    rows.set(r, std::vector<std::uint16_t>{4, 0, 31, 2});  // what a later set replaces
    for (std::size_t c = 0; c < levels.size(); ++c) {
      codes[c] = static_cast<std::uint16_t>(random.below(levels[c]));
      values.push_back(static_cast<float>(codes[c]));
    }
    rows.set(r, codes);
    targets.push_back(std::fabs(values[values.size() - 4] * 3 - values[values.size() - 2]));
  }
  std::vector<float> row(levels.size());
  for (std::size_t r = 0; r < kRows; ++r) {
    rows.get(r, row);
    CHECK(row == std::vector<float>(values.begin() + static_cast<std::ptrdiff_t>(r * 4),
                                    values.begin() + static_cast<std::ptrdiff_t>(r * 4 + 4)));
  }
  const auto at_once = SlicedRows::build(values, levels.size());
  const auto forest = Forest::grow({values, levels.size(), {}, targets, 0}, {});
  REQUIRE(at_once.ok());
  REQUIRE(forest.ok());
  std::vector<float> expected(kRows), found(kRows);
  at_once->predict(forest->view(), expected, {});
  rows.predict(forest->view(), found, {});
  CHECK(found == expected);
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
