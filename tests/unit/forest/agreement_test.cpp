// Decision trees, forests and nearest neighbours beside scikit-learn's, on rows they did not see.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "models/host/learners/nearest_neighbors.hpp"
#include "models/host/learners/tree_learners.hpp"
#include "tests/unit/forest/golden_file.hpp"
#include "tests/unit/repeats.hpp"

using namespace idletune;
using namespace idletune::learners;
using test::GoldenFile;
using test::GoldenResult;
using test::read_golden;

namespace {

const char* const kFiles[] = {"friedman", "wave", "blobs", "categories", "gemm", "gemm_quartiles"};

TreeOptions tree_options(const GoldenResult& golden) {
  TreeOptions options;
  options.height = static_cast<std::size_t>(golden.number("height", kMaxTreeHeight));
  options.leaf_rows = static_cast<std::size_t>(golden.number("leaf_rows", 1));
  options.leaf_share = golden.number("leaf_share", 0);
  options.candidate_features = static_cast<std::size_t>(golden.number("candidate_features", 0));
  return options;
}

// Both are the same number but for its rounding to a float.
bool same_float(double ours, double theirs) {
  return std::fabs(ours - theirs) <= 1.2e-7 * std::max(std::fabs(theirs), 1e-3);
}

std::size_t differing(const std::vector<double>& ours, const std::vector<double>& theirs) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) count += same_float(ours[i], theirs[i]) ? 0 : 1;
  return count;
}

std::vector<double> fit_and_predict(Learner& learner, const GoldenFile& file) {
  const Status fitted = learner.fit(file.training_data());
  REQUIRE_MESSAGE(fitted.ok(), fitted.message());
  return predictions_of(learner, file);
}

}  // namespace

TEST_CASE("a tree predicts what scikit-learn's predicts where no two splits are equally good") {
  std::size_t compared = 0;
  for (const char* name : kFiles) {
    const GoldenFile file = read_golden(name);
    for (const GoldenResult& golden : file.results) {
      if (golden.learner != "cart" || golden.predictions.empty()) continue;
      CAPTURE(golden.description());
      CartLearner cart(tree_options(golden));
      CHECK(differing(fit_and_predict(cart, file), golden.predictions) == 0);
      ++compared;
    }
  }
  CHECK(compared == 27);
}

TEST_CASE("a tree that had to break ties scores as scikit-learn's do over their seeds") {
  std::size_t compared = 0;
  for (const char* name : kFiles) {
    const GoldenFile file = read_golden(name);
    for (const GoldenResult& golden : file.results) {
      if (golden.learner != "cart" || !golden.predictions.empty()) continue;
      CAPTURE(golden.description());
      CartLearner cart(tree_options(golden));
      const double score = score_of(fit_and_predict(cart, file), file);
      CHECK(score >= golden.number("low", 0) - 0.05);
      CHECK(score <= golden.number("high", 0) + 0.05);
      ++compared;
    }
  }
  CHECK(compared == 7);
}

TEST_CASE("a forest scores as scikit-learn's within 0.02, averaged over ten seeds" *
          doctest::skip(test::fewer_repeats())) {
  std::size_t compared = 0;
  for (const char* name : kFiles) {
    const GoldenFile file = read_golden(name);
    for (const GoldenResult& golden : file.results) {
      if (golden.learner != "forest") continue;
      CAPTURE(golden.description());
      double mean = 0;
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        ForestOptions options;
        options.tree = tree_options(golden);
        options.trees = static_cast<std::size_t>(golden.number("trees", 0));
        options.seed = seed;
        ForestLearner forest(options);
        mean += score_of(fit_and_predict(forest, file), file) / 10;
      }
      CHECK(std::fabs(mean - golden.number("mean", 0)) <= 0.02);
      ++compared;
    }
  }
  CHECK(compared == 10);
}

TEST_CASE("nearest neighbours are scikit-learn's, and the earlier of equally near rows") {
  std::size_t compared = 0, with_ties = 0;
  for (const char* name : kFiles) {
    const GoldenFile file = read_golden(name);
    for (const GoldenResult& golden : file.results) {
      if (golden.learner != "knn") continue;
      CAPTURE(golden.description());
      NeighborOptions options;
      options.neighbors = static_cast<std::size_t>(golden.number("k", 0));
      NearestNeighbors learner(options);
      CHECK(differing(fit_and_predict(learner, file), golden.predictions) == 0);
      with_ties += golden.number("ties", 0) != 0 ? 1 : 0;
      ++compared;
    }
  }
  CHECK(compared == 7);
  CHECK(with_ties == 3);
}
