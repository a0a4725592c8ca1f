#include "models/host/learn/selection.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>

#include "agent/host/lab/selection/published_tree.hpp"
#include "agent/host/lab/selection/selection_evaluation.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::selection;

namespace {

struct GoldenTree {
  std::size_t height = 0;
  double leaf = 0;
  Score score;
  std::vector<std::size_t> choices;
};

// What scikit-learn and NumPy make of a table of times (tests/data/selection).
struct Golden {
  Problems problems;
  Split split;
  DefaultRoutine usual;
  double peak = 0;
  std::vector<GoldenTree> trees;
};

Golden golden() {
  std::ifstream file(test::test_data("selection/problems.txt"));
  REQUIRE(file.good());
  Golden golden;
  std::string word;
  std::size_t problems = 0;
  std::size_t methods = 0;
  std::size_t training = 0;
  file >> word >> problems >> word >> methods >> word >> training;
  golden.problems.inputs = {"M", "N", "K"};
  golden.problems.members = {"direct", "indirect"};
  for (std::size_t m = 0; m < methods; ++m)
    golden.problems.member.push_back(m < methods / 2 ? 0 : 1);
  for (std::size_t p = 0; p < problems; ++p) {
    golden.problems.sizes.emplace_back(3);
    for (double& size : golden.problems.sizes.back()) file >> size;
    golden.problems.ns.emplace_back(methods);
    for (double& time : golden.problems.ns.back()) file >> time;
    golden.problems.group.push_back(p);
    (p < training ? golden.split.training : golden.split.test).push_back(p);
  }
  file >> word >> golden.usual.small >> golden.usual.large >> golden.usual.threshold >> golden.peak;
  while (file >> word) {
    GoldenTree tree;
    file >> tree.height >> tree.leaf >> tree.score.accuracy >> tree.score.dtpr >> tree.score.dttr >>
        tree.score.p10;
    tree.choices.resize(golden.split.test.size());
    for (std::size_t& choice : tree.choices) file >> choice;
    golden.trees.push_back(std::move(tree));
  }
  REQUIRE(golden.trees.size() >= 20);
  return golden;
}

doctest::Approx close(double value) { return doctest::Approx(value).epsilon(1e-9); }

// Two methods, one for small products and one for large ones; a third that runs nowhere else but at
// the first problem.
Problems two_sides() {
  Problems problems;
  problems.inputs = {"M", "N", "K"};
  problems.members = {"direct", "indirect"};
  problems.member = {0, 1, 1};
  for (std::size_t i = 0; i < 64; ++i) {
    const double side = 32.0 * static_cast<double>(1 + i / 2);
    problems.sizes.push_back({side, side, i % 2 == 0 ? 64.0 : 512.0});
    const bool small = side * side * problems.sizes.back()[2] < 3e7;
    problems.ns.push_back({small ? 100.0 : 400.0, small ? 200.0 : 100.0, i == 0 ? 50.0 : 0.0});
    problems.group.push_back(i / 2);
  }
  return problems;
}

// Of one kernel at `problems` sizes: x = 0 is best for small ones, 1 for large ones; y says
// nothing.
std::vector<History> sized_histories(std::size_t problems, bool swapped = false,
                                     const char* x_name = "x", const char* y_name = "y") {
  std::vector<History> histories;
  for (std::size_t i = 0; i < problems; ++i) {
    History history;
    history.kernel = "k";
    history.device = "Board";
    history.shape = Shape{static_cast<std::int64_t>(8 + 3 * i)};
    for (const char* name : {swapped ? y_name : x_name, swapped ? x_name : y_name})
      history.parameters.emplace_back(name);
    for (std::int64_t x = 0; x < 3; ++x) {
      history.parameters[swapped ? 1 : 0].push_integer(x);
      history.parameters[swapped ? 0 : 1].push_integer(7);
      history.status.push_back(TrialStatus::correct);
      const bool right = x == (i < problems / 2 ? 0 : 1);
      history.run_time.push_back(right ? 100 : 200 + static_cast<double>((5 * i + x) % 7));
      history.compile_time.push_back(1);
      history.sample_count.push_back(0);
    }
    histories.push_back(std::move(history));
  }
  return histories;
}

Problems problems_in(const std::vector<History>& histories, std::size_t seen = SIZE_MAX) {
  return required(
      problems_of({histories.data(), histories.size()}, std::min(seen, histories.size())));
}

}  // namespace

TEST_CASE("the members of a family have the names that its package gave them") {
  const Problems problems = problems_in(sized_histories(20, false, "ALGORITHM", "tile_row_WG"));
  CHECK(problems.members == std::vector<std::string>{"tile_row", "member_1", "member_2"});
  CHECK(problems.member == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("a problem that was measured twice is one problem, whatever order its parameters have") {
  std::vector<History> histories = sized_histories(20);
  const Problems once = problems_in(histories);
  for (const bool swapped : {false, true}) {
    std::vector<History> twice = histories;
    for (History& again : sized_histories(20, swapped)) twice.push_back(std::move(again));
    const Problems same = problems_in(twice);
    CHECK(same.seen == 20);
    CHECK(same.sizes == once.sizes);
    CHECK(same.group == once.group);
    CHECK(same.ns == once.ns);
    // What was learned from is not asked about, and what is asked about twice counts once.
    twice.insert(twice.end(), histories.begin(), histories.begin() + 5);
    CHECK(problems_in(twice, 15).count() == 20);
  }
  // Of several measurements the median counts.
  histories.insert(histories.end(), 2, histories.front());
  histories[20].run_time[0] = 130;
  histories[21].run_time[0] = 170;
  CHECK(problems_in(histories).ns[0][0] == 130);
}

TEST_CASE("histories of another kernel, device or space are left out and counted") {
  std::vector<History> histories = sized_histories(20);
  histories[17].kernel = "other";
  histories[18].device = "Elsewhere";
  histories[19].parameters.pop_back();
  const Problems problems = problems_in(histories);
  CHECK(problems.count() == 17);
  CHECK(problems.unfit == 3);
}

TEST_CASE("the published trees choose as scikit-learn's") {
  const Golden expected = golden();
  for (const GoldenTree& wanted : expected.trees) {
    CAPTURE(tree_name(wanted.height, wanted.leaf));
    const auto tree = required(PublishedTree::learn(expected.problems, expected.split.training,
                                                    wanted.height, wanted.leaf));
    std::vector<std::size_t> choices;
    for (const std::size_t p : expected.split.test) {
      choices.push_back(tree.choose(expected.problems.sizes[p]));
    }
    CHECK(choices == wanted.choices);
  }
}

TEST_CASE("choices are worth what NumPy says") {
  const Golden expected = golden();
  for (const GoldenTree& wanted : expected.trees) {
    CAPTURE(tree_name(wanted.height, wanted.leaf));
    const Score got = score(expected.problems, expected.split.test, wanted.choices, expected.usual);
    CHECK(got.accuracy == close(wanted.score.accuracy));
    CHECK(got.dtpr == close(wanted.score.dtpr));
    CHECK(got.dttr == close(wanted.score.dttr));
    CHECK(got.p10 == close(wanted.score.p10));
    CHECK(got.peak == close(expected.peak));
    CHECK(got.captured() == close((wanted.score.dttr - 1) / (expected.peak - 1)));
  }
}

TEST_CASE("the default is tuned where NumPy tunes it, and switched at the same product") {
  const Golden expected = golden();
  const DefaultRoutine usual = default_routine(expected.problems, expected.split.training);
  CHECK(usual.small == expected.usual.small);
  CHECK(usual.large == expected.usual.large);
  CHECK(usual.threshold == close(expected.usual.threshold));
}

TEST_CASE("what does not run at a problem is replaced by the default there") {
  const Problems problems = two_sides();
  const DefaultRoutine usual = default_routine(problems, {0, 1, 2, 3, 60, 61, 62, 63});
  CHECK(usual.small == 0);
  CHECK(usual.large == 1);
  const Score got = score(problems, {0, 1, 63}, {2, 2, 1}, usual);
  CHECK(got.dtpr == 1);
  CHECK(got.accuracy == close(2.0 / 3));
  CHECK(got.dttr == close((2 + 1 + 1) / 3.0));
}

TEST_CASE("a group is never on both sides of a split, and a seed draws the same one") {
  const Problems problems = two_sides();
  const Split split = split_of(problems, 0.75, 5);
  CHECK(split.training.size() == 48);
  CHECK(split.test.size() == 16);
  std::set<std::size_t> learned;
  for (const std::size_t p : split.training) learned.insert(problems.group[p]);
  for (const std::size_t p : split.test) CHECK(learned.count(problems.group[p]) == 0);
  CHECK(split_of(problems, 0.75, 5).test == split.test);
  CHECK(split_of(problems, 0.75, 6).test != split.test);
  std::vector<std::size_t> left_out;
  for (const Split& fold : folds_of(problems, split.training, 3, 1)) {
    left_out.insert(left_out.end(), fold.test.begin(), fold.test.end());
    CHECK(fold.test.size() + fold.training.size() == split.training.size());
  }
  std::sort(left_out.begin(), left_out.end());
  CHECK(left_out == split.training);
}

TEST_CASE("sums of logarithms that differ in their last bit only part no rows") {
  Problems problems;
  problems.inputs = {"M", "N", "K"};
  problems.members = {"direct"};
  problems.member = {0, 0, 0};
  for (const double m : {32.0, 96.0, 160.0, 224.0, 480.0}) {
    for (const double n : {32.0, 96.0, 160.0, 224.0, 480.0}) {
      for (const double k : {32.0, 96.0, 160.0, 224.0, 480.0}) {
        problems.group.push_back(problems.count());
        problems.sizes.push_back({m, n, k});
        const double i = static_cast<double>(problems.count());
        problems.ns.push_back({100 + 37 * std::fmod(i, 3), 110 + 31 * std::fmod(i, 4), 120.0});
      }
    }
  }
  const Split split = split_of(problems, 0.8, 1);
  const QualityForest forest(problems, split.training, {}, 1);
  for (const std::size_t p : split.test) CHECK(forest.choose(problems, p) < 3);
}

TEST_CASE("a surface of second degree is found again, and averages what is not smooth") {
  std::vector<std::vector<double>> logs;
  std::vector<std::vector<float>> quality;
  for (double m = 4; m < 12; ++m) {
    for (double n = 4; n < 12; ++n) {
      logs.push_back({m, n});
      const double noise = std::fmod(m + n, 2) == 0 ? 0.05 : -0.05;
      quality.push_back({static_cast<float>(0.2 + 0.05 * m), static_cast<float>(0.9 - 0.01 * m * n),
                         static_cast<float>(0.5 + noise)});
    }
  }
  const QualitySurface surface(logs, quality);
  const std::vector<double> found = surface.at({6.5, 8.25});
  CHECK(found[0] == doctest::Approx(0.525).epsilon(0.02));
  CHECK(found[1] == doctest::Approx(0.9 - 0.01 * 6.5 * 8.25).epsilon(0.03));
  CHECK(found[2] == doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("the methods that cover problems best come first, and none that adds nothing") {
  const Problems problems = two_sides();
  const auto chosen = covering_methods(problems, all_rows(problems), 3);
  REQUIRE(chosen.size() == 3);
  CHECK(chosen[2] == 2);
  CHECK(covering_methods(problems, {63}, 3) == std::vector<std::size_t>{1});
}

TEST_CASE("a forest finds the product that parts two methods, at sizes that it has not seen") {
  const Problems problems = two_sides();
  const Split split = split_of(problems, 0.8, 1);
  for (const int kind : {0, 1, 2, 3}) {
    ForestRecipe recipe;
    recipe.greedy = kind % 2 == 1;
    recipe.surface = kind >= 2;
    const QualityForest forest(problems, split.training, recipe, 1);
    double quality = 0;
    for (const std::size_t p : split.test) {
      const std::size_t choice = forest.choose(problems, p);
      CHECK(problems.ns[p][choice] > 0);
      quality += problems.quality(p, choice);
    }
    CHECK(quality / static_cast<double>(split.test.size()) > 0.9);
  }
  const QualityForest again(problems, split.training, {}, 1);
  const QualityForest same(problems, split.training, {}, 1);
  for (const std::size_t p : split.test) {
    CHECK(again.choose(problems, p) == same.choose(problems, p));
  }
}

TEST_CASE("ours is not told what runs at the problems that it is tested on") {
  Problems problems = two_sides();
  problems.seen = 32;
  for (std::size_t p = 0; p < problems.count(); ++p) problems.ns[p][2] = p < 32 ? 50 : 0;
  const SplitResults results = required(evaluate(problems, {}));
  CHECK(results.choices == std::vector<std::size_t>(32, 2));
  CHECK(results.ours.accuracy.mean() == 0);
  CHECK(results.ours.dttr.mean() == 1);
}
