#include "agent/host/lab/selection/quality_forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "models/core/random.hpp"

namespace idletune::selection {
namespace {

constexpr std::size_t kInnerFolds = 3;
constexpr std::size_t kInnerTrees = 12;
constexpr std::size_t kCuts = 24;   // tried per feature and node
constexpr double kSteps = 1 << 20;  // that features are rounded to
constexpr double kTiles[] = {16, 64};

std::vector<double> logs_of(const std::vector<double>& sizes) {
  std::vector<double> logs;
  logs.reserve(sizes.size());
  for (const double size : sizes) logs.push_back(std::log2(std::max(size, 1.0)));
  return logs;
}

std::vector<double> features_of(const std::vector<double>& sizes) {
  const std::vector<double> logs = logs_of(sizes);
  std::vector<double> features = logs;
  double all = 0;
  for (std::size_t a = 0; a < logs.size(); ++a) {
    all += logs[a];
    for (std::size_t b = a + 1; b < logs.size(); ++b) {
      features.push_back(logs[a] + logs[b]);
      features.push_back(logs[a] - logs[b]);
    }
  }
  features.push_back(all);
  for (const double size : sizes) {
    for (const double tile : kTiles) {
      features.push_back(size > 0 ? std::ceil(size / tile) * tile / size : 0);
    }
  }
  // Sums of the same logarithms in another order are the same feature.
  for (double& feature : features) feature = std::round(feature * kSteps) / kSteps;
  return features;
}

}  // namespace

QualityForest::QualityForest(const Problems& problems, const Rows& rows, const ForestRecipe& recipe,
                             std::uint64_t seed)
    : recipe_(recipe) {
  std::vector<std::vector<double>> features;
  std::vector<std::vector<float>> all;
  for (const std::size_t p : rows) {
    features.push_back(features_of(problems.sizes[p]));
    all.push_back(qualities(problems, p));
  }
  methods_ = covering_methods(problems, rows, recipe.methods);
  std::vector<std::vector<float>> quality;
  for (const std::vector<float>& row : all) {
    quality.emplace_back();
    for (const std::size_t m : methods_) quality.back().push_back(row[m]);
  }
  if (recipe.surface) {
    std::vector<std::vector<double>> logs;
    for (const std::size_t p : rows) logs.push_back(logs_of(problems.sizes[p]));
    surface_.emplace(logs, quality);
  }
  Random random(seed);
  for (std::size_t t = 0; t < recipe.trees; ++t) {
    std::vector<std::size_t> drawn;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      drawn.push_back(static_cast<std::size_t>(random.below(rows.size())));
    }
    trees_.emplace_back();
    grow(features, quality, drawn, random.next(), trees_.back());
  }
}

double QualityForest::worth(const std::vector<double>& sums, double count) const {
  if (recipe_.greedy) return *std::max_element(sums.begin(), sums.end());
  double squares = 0;
  for (const double sum : sums) squares += sum * sum;
  return squares / count;
}

QualityForest::Cut QualityForest::best_cut(const std::vector<std::vector<double>>& features,
                                           const std::vector<std::vector<float>>& quality,
                                           const std::vector<std::size_t>& rows,
                                           std::size_t feature) const {
  Cut cut;
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(rows.size());
  for (const std::size_t r : rows) order.emplace_back(features[r][feature], r);
  std::sort(order.begin(), order.end());
  if (order.front().first == order.back().first) return cut;
  std::vector<double> left(methods_.size(), 0.0);
  std::vector<double> right(methods_.size(), 0.0);
  const auto move = [&](std::size_t row, double sign, std::vector<double>& sums) {
    for (std::size_t k = 0; k < sums.size(); ++k) {
      sums[k] += sign * static_cast<double>(quality[row][k]);
    }
  };
  for (const std::size_t r : rows) move(r, 1, right);
  const double whole = worth(right, static_cast<double>(rows.size()));
  const std::size_t step = std::max<std::size_t>(1, rows.size() / kCuts);
  std::size_t tried = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    move(order[i].second, 1, left);
    move(order[i].second, -1, right);
    const std::size_t here = i + 1;
    if (order[i].first == order[i + 1].first) continue;
    if (here < recipe_.leaf_rows || order.size() - here < recipe_.leaf_rows) continue;
    if (tried > 0 && here < tried + step) continue;
    tried = here;
    const double gain = worth(left, static_cast<double>(here)) +
                        worth(right, static_cast<double>(order.size() - here)) - whole;
    if (gain > cut.gain) {
      cut = {gain, feature, (order[i].first + order[i + 1].first) / 2};
    }
  }
  return cut;
}

void QualityForest::grow(const std::vector<std::vector<double>>& features,
                         const std::vector<std::vector<float>>& quality,
                         std::vector<std::size_t>& rows, std::uint64_t seed,
                         std::vector<Node>& nodes) {
  const std::size_t at = nodes.size();
  nodes.emplace_back();
  Random random(seed);
  Cut cut;
  if (rows.size() >= 2 * recipe_.leaf_rows && rows.size() > 1) {
    const std::size_t count = features.front().size();
    const Permutation shuffled(count, random.next());
    // Half of the features, and more where none of those tells anything apart.
    for (std::size_t i = 0; i < count && (i < (count + 1) / 2 || cut.gain <= 1e-9); ++i) {
      const Cut found = best_cut(features, quality, rows, static_cast<std::size_t>(shuffled(i)));
      if (found.gain > cut.gain) cut = found;
    }
  }
  if (cut.gain <= 1e-9) {
    std::vector<float> mean(methods_.size(), 0.0f);
    for (const std::size_t r : rows) {
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += quality[r][k];
    }
    for (float& value : mean) value /= static_cast<float>(rows.size());
    nodes[at].quality = std::move(mean);
    return;
  }
  std::vector<std::size_t> left;
  std::vector<std::size_t> right;
  for (const std::size_t r : rows) {
    (features[r][cut.feature] <= cut.threshold ? left : right).push_back(r);
  }
  nodes[at].feature = cut.feature;
  nodes[at].threshold = cut.threshold;
  grow(features, quality, left, random.next(), nodes);
  nodes[at].right = nodes.size();
  grow(features, quality, right, random.next(), nodes);
}

std::size_t QualityForest::choose(const Problems& problems, std::size_t problem) const {
  const std::vector<double> features = features_of(problems.sizes[problem]);
  std::vector<double> promised(methods_.size(), 0.0);
  for (const std::vector<Node>& nodes : trees_) {
    std::size_t at = 0;
    while (nodes[at].right != 0) {
      at = features[nodes[at].feature] <= nodes[at].threshold ? at + 1 : nodes[at].right;
    }
    for (std::size_t k = 0; k < promised.size(); ++k) {
      promised[k] += static_cast<double>(nodes[at].quality[k]);
    }
  }
  if (surface_) {
    const std::vector<double> smooth = surface_->at(logs_of(problems.sizes[problem]));
    for (std::size_t k = 0; k < promised.size(); ++k) {
      promised[k] += smooth[k] * static_cast<double>(trees_.size());
    }
  }
  std::size_t best = methods_.front();
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < promised.size(); ++k) {
    if (promised[k] <= most) continue;
    most = promised[k];
    best = methods_[k];
  }
  return best;
}

ForestRecipe choose_forest(const Problems& problems, const Rows& training, std::uint64_t seed) {
  std::vector<ForestRecipe> recipes;
  for (const bool greedy : {false, true}) {
    for (const std::size_t leaf : {1, 3}) {
      for (const bool surface : {false, true}) {
        recipes.push_back({kInnerTrees, leaf, greedy, ForestRecipe().methods, surface});
      }
    }
  }
  ForestRecipe chosen;
  double best = -1;
  const std::vector<Split> folds = folds_of(problems, training, kInnerFolds, seed);
  for (const ForestRecipe& recipe : recipes) {
    double sum = 0;
    for (const Split& fold : folds) {
      if (fold.training.empty()) continue;
      const QualityForest forest(problems, fold.training, recipe, seed);
      for (const std::size_t p : fold.test) {
        sum += problems.quality(p, forest.choose(problems, p));
      }
    }
    if (sum <= best) continue;
    best = sum;
    chosen = recipe;
  }
  chosen.trees = ForestRecipe().trees;
  return chosen;
}

}  // namespace idletune::selection
