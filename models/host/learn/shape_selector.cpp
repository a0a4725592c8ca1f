#include "models/host/learn/shape_selector.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "models/devices/device_names.hpp"
#include "models/host/learn/selector_problem.hpp"
#include "models/predict/model_writer.hpp"
#include "models/predict/selector_tree.hpp"

namespace idletune {
namespace {

using learners::TreeNode;
using namespace selector;

// What the options allow.
std::vector<Recipe> recipes_of(const SelectorOptions& options) {
  std::vector<std::size_t> heights{1, 2, 4, 8, learners::kMaxTreeHeight};
  std::vector<double> leaves{1, 2, 4};
  if (options.height > 0) heights = {std::min(options.height, learners::kMaxTreeHeight)};
  if (options.leaf > 0) leaves = {options.leaf};
  std::vector<Recipe> all;
  for (const bool derived : {false, true}) {
    if (derived && !options.derived_features) continue;
    for (const std::size_t height : heights) {
      for (const double leaf : leaves) all.push_back({height, leaf, derived});
    }
  }
  return all;
}

Recipe recipe_for(const Lesson& problem, const Rows& rows, const std::vector<std::size_t>& classes,
                  const SelectorOptions& options) {
  const std::vector<Recipe> all = recipes_of(options);
  return choose_recipe(problem, rows, classes, {all.data(), all.size()});
}

// Parts the rows: by shapes, or by devices where there are several.
std::vector<std::size_t> outer_folds(const Lesson& problem, std::size_t folds) {
  const std::size_t devices = *std::max_element(problem.devices.begin(), problem.devices.end()) + 1;
  return devices > 1 ? problem.devices : folds_of(problem.rows(), folds);
}

// What one way of choosing does on rows left out, by their weights.
struct HeldOut {
  double sum = 0, worst = 1, right = 0, total = 0;
  void add(double weight, double q, bool is_best) {
    sum += weight * q;
    worst = std::min(worst, q);
    right += is_best ? weight : 0;
    total += weight;
  }
};

void tell(const HeldOut& held_out, LearnedSelector& selector) {
  selector.retained = held_out.sum / held_out.total;
  selector.worst = held_out.worst;
  selector.accuracy = held_out.right / held_out.total;
}

// A tree that does no better than the configuration that is best over the other rows makes way for
// it: one leaf.
void evaluate(const Lesson& problem, const SelectorOptions& options, std::size_t best_single,
              LearnedSelector& selector) {
  const std::size_t wanted = std::clamp<std::size_t>(options.folds, 2, problem.rows());
  const std::vector<std::size_t> fold = outer_folds(problem, wanted);
  selector.folds = *std::max_element(fold.begin(), fold.end()) + 1;
  HeldOut tree, single;
  double ratios = 0, comparable = 0;
  for (std::size_t f = 0; f < selector.folds; ++f) {
    Rows inside;
    for (std::size_t r = 0; r < problem.rows(); ++r) {
      if (fold[r] != f) inside.push_back(r);
    }
    if (inside.empty()) continue;
    const std::vector<std::size_t> classes = choose_classes(problem, inside, options.classes);
    const Grown grown =
        grow(problem, inside, classes, recipe_for(problem, inside, classes, options));
    for (std::size_t r = 0; r < problem.rows(); ++r) {
      if (fold[r] != f) continue;
      const std::size_t choice = grown.choose(problem.shapes[r]);
      const std::size_t best = classes[best_class(problem, r, classes)];
      const double q = static_cast<double>(problem.q[r][choice]);
      const double usual = static_cast<double>(problem.q[r][classes.front()]);
      const double weight = problem.weights[r];
      tree.add(weight, q, best == choice);
      single.add(weight, usual, best == classes.front());
      if (usual <= 0) continue;  // it fails here: no ratio
      ratios += weight * (q / usual);
      comparable += weight;
    }
  }
  selector.single = single.sum / single.total;
  selector.against_single = comparable > 0 ? ratios / comparable : 0;
  tell(tree, selector);
  if (selector.against_single > 1 && selector.retained > selector.single) return;
  tell(single, selector);
  selector.against_single = 1;
  selector.classes = {best_single};
  selector.exponents.clear();
  selector.nodes = {TreeNode::class_leaf(0, selector.single, problem.rows())};
}

// Keeps the features that the tree asks for.
void drop_unused_features(std::size_t inputs, LearnedSelector& selector) {
  const std::size_t count = selector.exponents.size() / inputs;
  std::vector<std::size_t> number(count, count);
  std::vector<std::int8_t> kept;
  std::size_t next = 0;
  for (std::size_t f = 0; f < count; ++f) {
    const bool used = std::any_of(selector.nodes.begin(), selector.nodes.end(), [&](TreeNode node) {
      return !node.is_leaf() && node.feature() == f;
    });
    if (!used) continue;
    number[f] = next++;
    const auto first = selector.exponents.begin() + static_cast<std::ptrdiff_t>(f * inputs);
    kept.insert(kept.end(), first, first + static_cast<std::ptrdiff_t>(inputs));
  }
  for (TreeNode& node : selector.nodes) {
    if (node.is_leaf()) continue;
    const std::size_t link = node.link();
    node = TreeNode::numeric_split(number[node.feature()], node.threshold());
    node.set_link(link);
  }
  selector.exponents = kept;
}

// Keeps the classes that a leaf names.
void drop_unused_classes(LearnedSelector& selector) {
  std::vector<std::size_t> kept;
  std::map<std::size_t, std::uint32_t> number;
  for (TreeNode& node : selector.nodes) {
    if (!node.is_leaf()) continue;
    const auto [at, added] =
        number.emplace(node.class_number(), static_cast<std::uint32_t>(kept.size()));
    if (added) kept.push_back(selector.classes[node.class_number()]);
    node = TreeNode::class_leaf(at->second, static_cast<double>(node.class_share()), node.rows());
  }
  selector.classes = kept;
}

LearnedSelector learn_one(const PerformanceTable& table, const Rows& sources, const Rows& devices,
                          const SelectorOptions& options, bool cross_validate) {
  const Lesson problem = problem_of(table, sources, devices, options);
  Rows rows(problem.rows());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const std::vector<std::size_t> classes = choose_classes(problem, rows, options.classes);
  const Recipe recipe = recipe_for(problem, rows, classes, options);
  const Grown grown = grow(problem, rows, classes, recipe);

  LearnedSelector selector;
  selector.shapes = problem.rows();
  selector.nodes = grown.nodes;
  selector.exponents = grown.exponents;
  selector.height_limit = recipe.height;
  selector.leaf_limit = recipe.leaf;
  for (const std::size_t c : classes) selector.classes.push_back(problem.candidates[c]);
  for (std::size_t i = 0; i < problem.inputs; ++i) {
    selector.inputs.push_back(i < options.inputs.size() && !options.inputs[i].empty()
                                  ? options.inputs[i]
                                  : "size_" + std::to_string(i));
    double low = std::numeric_limits<double>::max();
    double high = 0;
    for (const std::vector<double>& shape : problem.shapes) {
      low = std::min(low, shape[i]);
      high = std::max(high, shape[i]);
    }
    selector.low.push_back(low);
    selector.high.push_back(high);
  }
  drop_unused_features(problem.inputs, selector);
  drop_unused_classes(selector);
  if (cross_validate) evaluate(problem, options, problem.candidates[classes.front()], selector);
  return selector;
}

// Sources by device, those without a shape or with another number of dimensions or features left
// out.
std::vector<Rows> by_device(const PerformanceTable& table) {
  std::vector<Rows> devices;
  const Shape* first = nullptr;
  for (std::size_t s = 0; s < table.sources().size(); ++s) {
    const PerformanceTable::Source& source = table.sources()[s];
    if (source.shape.size() == 0) continue;
    const bool negative = std::any_of(source.shape.values().begin(), source.shape.values().end(),
                                      [](std::int64_t size) { return size < 0; });
    if (negative) continue;
    if (first == nullptr) first = &source.shape;
    if (source.shape.size() != first->size() ||
        source.shape.feature_count() != first->feature_count()) {
      continue;
    }
    const auto same = std::find_if(devices.begin(), devices.end(), [&](const Rows& rows) {
      return same_device_model(table.sources()[rows.front()].device, source.device);
    });
    if (same == devices.end()) {
      devices.push_back({s});
    } else {
      same->push_back(s);
    }
  }
  return devices;
}

}  // namespace

std::vector<LearnedSelector> learn_selectors(const PerformanceTable& table,
                                             const SelectorOptions& options, bool cross_validate) {
  std::vector<LearnedSelector> selectors;
  if (!options.learn) return selectors;
  Rows all;
  Rows device_of;
  std::size_t number = 0;
  std::vector<Rows> by_number = by_device(table);
  std::stable_sort(by_number.begin(), by_number.end(),
                   [](const Rows& a, const Rows& b) { return a.size() > b.size(); });
  for (const Rows& sources : by_number) {
    if (sources.size() < std::max<std::size_t>(options.least_shapes, 2)) continue;
    const Rows devices(sources.size(), 0);
    selectors.push_back(learn_one(table, sources, devices, options, cross_validate));
    selectors.back().device = table.sources()[sources.front()].device;
    all.insert(all.end(), sources.begin(), sources.end());
    device_of.insert(device_of.end(), sources.size(), number++);
  }
  if (number < 2) return selectors;
  // One leaf says no more than the portfolio, which knows what devices like the asking one prefer.
  LearnedSelector together = learn_one(table, all, device_of, options, cross_validate);
  if (together.nodes.size() > 1) selectors.push_back(std::move(together));
  return selectors;
}

std::vector<std::uint8_t> write_selectors(const PerformanceTable& table,
                                          const std::vector<LearnedSelector>& selectors) {
  model_schema::Builder builder;
  model_schema::OffsetList<model_schema::Selector> trees;
  for (const LearnedSelector& selector : selectors) {
    model_schema::TreeToWrite tree;
    tree.device = selector.device;
    tree.inputs = selector.inputs;
    tree.low = selector.low;
    tree.high = selector.high;
    tree.exponents = selector.exponents;
    for (const std::size_t c : selector.classes) {
      const Configuration& configuration = table.configurations()[c];
      tree.classes.insert(tree.classes.end(), configuration.values().begin(),
                          configuration.values().end());
    }
    tree.nodes = {reinterpret_cast<const std::uint8_t*>(selector.nodes.data()),
                  selector.nodes.size() * sizeof(TreeNode)};
    trees.push_back(model_schema::write_tree(builder, tree));
  }
  return model_schema::finish_trees(builder, trees);
}

}  // namespace idletune
