#include "models/learn/shape_selector.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "models/core/random.hpp"
#include "models/devices/device_names.hpp"
#include "models/forest/tree_trainer.hpp"
#include "models/predict/model_format.hpp"
#include "models/predict/selector.hpp"
#include "models/schema/model_generated.h"

namespace idletune {

namespace {

using learners::TreeNode;

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kInnerFolds = 5;
constexpr std::size_t kCandidatesPerShape = 8;  // that may become classes
constexpr double kLeastGain = 0.002;            // mean q that a further class must add
constexpr double kSameQuality = 0.001;  // of two trees as good as each other the smaller is taken

using Rows = std::vector<std::size_t>;

// What a tree is grown with.
struct Recipe {
  std::size_t height = learners::kMaxTreeHeight;
  double leaf = 1;
  bool derived = false;
};

// The shapes to learn from. Row r is a shape on a device; q is by row and candidate.
struct Problem {
  std::size_t inputs = 0;
  std::vector<std::vector<double>> shapes;
  std::vector<double> weights;
  std::vector<std::size_t> devices;     // a number per row
  std::vector<std::size_t> candidates;  // configurations that may become classes
  std::vector<std::vector<float>> q;    // unmeasured: the row's mean
  std::vector<std::int8_t> plain;       // exponents, features x inputs
  std::vector<std::int8_t> derived;

  std::size_t rows() const { return shapes.size(); }
};

// A tree with its classes: numbers of candidates.
struct Grown {
  std::vector<std::size_t> classes;
  std::vector<TreeNode> nodes;
  std::vector<std::int8_t> exponents;

  std::size_t choose(const std::vector<double>& shape) const {
    SelectorView view;
    view.low = {shape.data(), shape.size()};
    view.exponents = {exponents.data(), exponents.size()};
    view.tree = learners::TreeView({nodes.data(), nodes.size()});
    return classes[view.select({shape.data(), shape.size()}).number];
  }
};

// --- the problem ---

std::vector<std::int8_t> plain_features(std::size_t inputs) {
  std::vector<std::int8_t> exponents(inputs * inputs, 0);
  for (std::size_t i = 0; i < inputs; ++i) exponents[i * inputs + i] = 1;
  return exponents;
}

// The inputs, the products of two and of all, and the ratios of two.
std::vector<std::int8_t> derived_features(std::size_t inputs) {
  std::vector<std::int8_t> exponents = plain_features(inputs);
  const auto add = [&](std::size_t a, int sign, std::size_t b) {
    std::vector<std::int8_t> feature(inputs, 0);
    feature[a] = 1;
    feature[b] = static_cast<std::int8_t>(sign);
    exponents.insert(exponents.end(), feature.begin(), feature.end());
  };
  for (std::size_t a = 0; a < inputs; ++a) {
    for (std::size_t b = a + 1; b < inputs; ++b) {
      add(a, 1, b);
      add(a, -1, b);
    }
  }
  if (inputs > 2) exponents.insert(exponents.end(), inputs, 1);
  const std::size_t most = model_schema::kMaxSelectorFeatures * inputs;
  if (exponents.size() > most) exponents.resize(most);
  return exponents;
}

double mean_measured(const std::vector<float>& relative) {
  double sum = 0;
  std::size_t count = 0;
  for (const float q : relative) {
    if (q < 0) continue;
    sum += static_cast<double>(q);
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

// The best few of every row, and what is good on average.
std::vector<std::size_t> choose_candidates(const PerformanceTable& table, const Rows& sources,
                                           std::size_t classes) {
  const std::size_t count = table.configurations().size();
  std::vector<double> sums(count, 0.0);
  std::vector<bool> wanted(count, false);
  std::vector<std::size_t> order(count);
  for (const std::size_t s : sources) {
    const std::vector<float>& q = table.sources()[s].relative;
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t few = std::min(kCandidatesPerShape, count);
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(few), order.end(),
        [&](std::size_t a, std::size_t b) { return q[a] != q[b] ? q[a] > q[b] : a < b; });
    for (std::size_t i = 0; i < few; ++i) wanted[order[i]] = q[order[i]] > 0 || wanted[order[i]];
    const double mean = mean_measured(q);
    for (std::size_t c = 0; c < count; ++c) sums[c] += q[c] < 0 ? mean : static_cast<double>(q[c]);
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t few = std::min(classes, count);
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(few), order.end(),
      [&](std::size_t a, std::size_t b) { return sums[a] != sums[b] ? sums[a] > sums[b] : a < b; });
  for (std::size_t i = 0; i < few; ++i) wanted[order[i]] = true;
  std::vector<std::size_t> candidates;
  for (std::size_t c = 0; c < count; ++c) {
    if (wanted[c]) candidates.push_back(c);
  }
  return candidates;
}

// Drops features that are not finite somewhere (a ratio to 0).
std::vector<std::int8_t> usable(const std::vector<std::int8_t>& exponents, const Problem& problem) {
  std::vector<std::int8_t> kept;
  for (std::size_t f = 0; f + problem.inputs <= exponents.size(); f += problem.inputs) {
    const bool finite = std::all_of(
        problem.shapes.begin(), problem.shapes.end(), [&](const std::vector<double>& shape) {
          return std::isfinite(selector_feature(exponents.data() + f, shape.data(), shape.size()));
        });
    if (finite) {
      kept.insert(kept.end(), exponents.begin() + static_cast<std::ptrdiff_t>(f),
                  exponents.begin() + static_cast<std::ptrdiff_t>(f + problem.inputs));
    }
  }
  return kept;
}

Problem problem_of(const PerformanceTable& table, const Rows& sources, const Rows& devices,
                   const SelectorOptions& options) {
  Problem problem;
  problem.inputs = table.sources()[sources.front()].shape.size();
  problem.candidates = choose_candidates(table, sources, options.classes);
  problem.devices = devices;
  for (std::size_t r = 0; r < sources.size(); ++r) {
    const PerformanceTable::Source& source = table.sources()[sources[r]];
    std::vector<double> shape;
    for (const std::int64_t size : source.shape.values())
      shape.push_back(static_cast<double>(size));
    problem.shapes.push_back(shape);
    const float mean = static_cast<float>(mean_measured(source.relative));
    std::vector<float> q;
    for (const std::size_t c : problem.candidates)
      q.push_back(source.relative[c] < 0 ? mean : source.relative[c]);
    problem.q.push_back(q);
    const auto alike = std::count(devices.begin(), devices.end(), devices[r]);
    problem.weights.push_back(1.0 / static_cast<double>(alike));
  }
  problem.plain = usable(plain_features(problem.inputs), problem);
  problem.derived = usable(derived_features(problem.inputs), problem);
  return problem;
}

// --- classes ---

// Greedily the configurations that cover the rows best; the first one is the best single one.
std::vector<std::size_t> choose_classes(const Problem& problem, const Rows& rows,
                                        std::size_t most) {
  std::vector<double> covered(rows.size(), 0.0);
  std::vector<std::size_t> classes;
  double total = 0;
  for (const std::size_t r : rows) total += problem.weights[r];
  while (classes.size() < most) {
    double best_gain = 0;
    std::size_t best = 0;
    for (std::size_t c = 0; c < problem.candidates.size(); ++c) {
      double gain = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double q = static_cast<double>(problem.q[rows[i]][c]);
        if (q > covered[i]) gain += problem.weights[rows[i]] * (q - covered[i]);
      }
      if (gain > best_gain) {
        best_gain = gain;
        best = c;
      }
    }
    if (best_gain < kLeastGain * total && !classes.empty()) break;
    if (best_gain <= 0) break;
    classes.push_back(best);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      covered[i] = std::max(covered[i], static_cast<double>(problem.q[rows[i]][best]));
    }
  }
  if (classes.empty()) classes.push_back(0);
  return classes;
}

std::size_t best_class(const Problem& problem, std::size_t row,
                       const std::vector<std::size_t>& classes) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < classes.size(); ++k) {
    if (problem.q[row][classes[k]] > problem.q[row][classes[best]]) best = k;
  }
  return best;
}

// --- the tree ---

// Gives every leaf the class with the best mean over its rows, whatever the majority's label: what
// counts is the time, not the name. Its share becomes that mean.
void relabel(const Problem& problem, const Rows& rows, const std::vector<std::size_t>& classes,
             const std::vector<float>& values, std::size_t columns, std::vector<TreeNode>& nodes) {
  std::map<std::size_t, Rows> by_leaf;
  const learners::TreeView tree({nodes.data(), nodes.size()});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    by_leaf[tree.leaf_of({values.data() + i * columns, columns})].push_back(rows[i]);
  }
  for (const auto& [leaf, members] : by_leaf) {
    double best = -1;
    std::size_t number = 0;
    double total = 0;
    for (const std::size_t r : members) total += problem.weights[r];
    for (std::size_t k = 0; k < classes.size(); ++k) {
      double sum = 0;
      for (const std::size_t r : members)
        sum += problem.weights[r] * static_cast<double>(problem.q[r][classes[k]]);
      if (sum / total > best + 1e-9) {
        best = sum / total;
        number = k;
      }
    }
    nodes[leaf] = TreeNode::class_leaf(static_cast<std::uint32_t>(number),
                                       std::clamp(best, 0.0, 1.0), members.size());
  }
}

// The subtree at `at` in preorder, splits between leaves of the same class undone.
std::vector<TreeNode> simplified(const std::vector<TreeNode>& nodes, std::size_t at) {
  const TreeNode& node = nodes[at];
  if (node.is_leaf()) return {node};
  const std::vector<TreeNode> left = simplified(nodes, at + 1);
  const std::vector<TreeNode> right = simplified(nodes, at + node.link());
  const bool leaves = left.size() == 1 && right.size() == 1;
  if (leaves && left[0].class_number() == right[0].class_number()) {
    const double l = static_cast<double>(left[0].rows());
    const double r = static_cast<double>(right[0].rows());
    const double mean = (static_cast<double>(left[0].class_share()) * l +
                         static_cast<double>(right[0].class_share()) * r) /
                        std::max(1.0, l + r);
    return {TreeNode::class_leaf(left[0].class_number(), std::clamp(mean, 0.0, 1.0),
                                 left[0].rows() + right[0].rows())};
  }
  std::vector<TreeNode> result{node};
  result[0].set_link(left.size() + 1);
  result.insert(result.end(), left.begin(), left.end());
  result.insert(result.end(), right.begin(), right.end());
  return result;
}

Grown grow(const Problem& problem, const Rows& rows, const std::vector<std::size_t>& classes,
           const Recipe& recipe) {
  Grown grown;
  grown.classes = classes;
  grown.exponents = recipe.derived ? problem.derived : problem.plain;
  const std::size_t columns = grown.exponents.size() / problem.inputs;
  std::vector<float> values;
  std::vector<float> targets;
  for (const std::size_t r : rows) {
    const std::vector<double>& shape = problem.shapes[r];
    for (std::size_t f = 0; f < columns; ++f) {
      values.push_back(selector_feature(grown.exponents.data() + f * problem.inputs, shape.data(),
                                        shape.size()));
    }
    targets.push_back(static_cast<float>(best_class(problem, r, classes)));
  }
  learners::Dataset data;
  data.values = {values.data(), values.size()};
  data.columns = columns;
  data.targets = {targets.data(), targets.size()};
  data.classes = static_cast<std::uint32_t>(classes.size());
  grown.nodes = {TreeNode::class_leaf(0, 0, 0)};
  const auto coded = learners::CodedTable::build(data);
  if (coded.ok()) {
    learners::TreeOptions options;
    options.height = recipe.height;
    if (recipe.leaf >= 1) options.leaf_rows = static_cast<std::size_t>(recipe.leaf);
    if (recipe.leaf < 1) options.leaf_share = recipe.leaf;
    learners::TreeTrainer trainer(*coded, options);
    const std::vector<std::uint16_t> weights(rows.size(), 1);
    Random random(kSeed);
    std::vector<TreeNode> nodes;
    if (trainer.grow({weights.data(), weights.size()}, random, nodes).ok()) grown.nodes = nodes;
  }
  relabel(problem, rows, classes, values, columns, grown.nodes);
  grown.nodes = simplified(grown.nodes, 0);
  return grown;
}

// --- choosing H and L ---

std::vector<Recipe> recipes(const SelectorOptions& options) {
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

// Which fold each of `count` rows is in.
std::vector<std::size_t> folds_of(std::size_t count, std::size_t folds) {
  std::vector<std::size_t> fold(count);
  const Permutation shuffled(count, kSeed);
  for (std::size_t i = 0; i < count; ++i) fold[static_cast<std::size_t>(shuffled(i))] = i % folds;
  return fold;
}

Recipe choose_recipe(const Problem& problem, const Rows& rows,
                     const std::vector<std::size_t>& classes, const SelectorOptions& options) {
  const std::vector<Recipe> all = recipes(options);
  const std::size_t folds = std::min(kInnerFolds, rows.size());
  if (all.size() == 1 || folds < 2) return all.front();
  const std::vector<std::size_t> fold = folds_of(rows.size(), folds);
  Recipe chosen = all.front();
  double best = -1;
  std::size_t best_nodes = 0;
  for (const Recipe& recipe : all) {
    double sum = 0;
    std::size_t nodes = 0;
    for (std::size_t f = 0; f < folds; ++f) {
      Rows inside;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (fold[i] != f) inside.push_back(rows[i]);
      }
      const Grown grown = grow(problem, inside, classes, recipe);
      nodes += grown.nodes.size();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (fold[i] != f) continue;
        sum += static_cast<double>(problem.q[rows[i]][grown.choose(problem.shapes[rows[i]])]);
      }
    }
    const double mean = sum / static_cast<double>(rows.size());
    if (mean > best + kSameQuality || (mean > best - kSameQuality && nodes < best_nodes)) {
      best = std::max(best, mean);
      best_nodes = nodes;
      chosen = recipe;
    }
  }
  return chosen;
}

// --- all of it ---

// Parts the rows: by shapes, or by devices where there are several.
std::vector<std::size_t> outer_folds(const Problem& problem, std::size_t folds) {
  const std::size_t devices = *std::max_element(problem.devices.begin(), problem.devices.end()) + 1;
  return devices > 1 ? problem.devices : folds_of(problem.rows(), folds);
}

void evaluate(const Problem& problem, const SelectorOptions& options, LearnedSelector& selector) {
  const std::size_t wanted = std::clamp<std::size_t>(options.folds, 2, problem.rows());
  const std::vector<std::size_t> fold = outer_folds(problem, wanted);
  selector.folds = *std::max_element(fold.begin(), fold.end()) + 1;
  selector.worst = 1;
  double ratios = 0;
  std::size_t comparable = 0;
  for (std::size_t f = 0; f < selector.folds; ++f) {
    Rows inside;
    for (std::size_t r = 0; r < problem.rows(); ++r) {
      if (fold[r] != f) inside.push_back(r);
    }
    if (inside.empty()) continue;
    const std::vector<std::size_t> classes = choose_classes(problem, inside, options.classes);
    const Grown grown =
        grow(problem, inside, classes, choose_recipe(problem, inside, classes, options));
    for (std::size_t r = 0; r < problem.rows(); ++r) {
      if (fold[r] != f) continue;
      const std::size_t choice = grown.choose(problem.shapes[r]);
      const double q = static_cast<double>(problem.q[r][choice]);
      const double single = static_cast<double>(problem.q[r][classes.front()]);
      selector.retained += q;
      selector.single += single;
      selector.worst = std::min(selector.worst, q);
      if (classes[best_class(problem, r, classes)] == choice) selector.accuracy += 1;
      if (single <= 0) continue;  // it fails here: no ratio
      ratios += q / single;
      ++comparable;
    }
  }
  const double rows = static_cast<double>(problem.rows());
  selector.retained /= rows;
  selector.single /= rows;
  selector.accuracy /= rows;
  selector.against_single = comparable == 0 ? 0 : ratios / static_cast<double>(comparable);
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
  const Problem problem = problem_of(table, sources, devices, options);
  Rows rows(problem.rows());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const std::vector<std::size_t> classes = choose_classes(problem, rows, options.classes);
  const Recipe recipe = choose_recipe(problem, rows, classes, options);
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
  if (cross_validate) evaluate(problem, options, selector);
  return selector;
}

// Sources by device, those without a shape or with another number of dimensions left out.
std::vector<Rows> by_device(const PerformanceTable& table) {
  std::vector<Rows> devices;
  std::size_t dimensions = 0;
  for (std::size_t s = 0; s < table.sources().size(); ++s) {
    const PerformanceTable::Source& source = table.sources()[s];
    if (source.shape.size() == 0) continue;
    const bool negative = std::any_of(source.shape.values().begin(), source.shape.values().end(),
                                      [](std::int64_t size) { return size < 0; });
    if (negative) continue;
    if (dimensions == 0) dimensions = source.shape.size();
    if (source.shape.size() != dimensions) continue;
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
  for (const Rows& sources : by_device(table)) {
    if (sources.size() < std::max<std::size_t>(options.least_shapes, 2)) continue;
    const Rows devices(sources.size(), 0);
    selectors.push_back(learn_one(table, sources, devices, options, cross_validate));
    selectors.back().device = table.sources()[sources.front()].device;
    all.insert(all.end(), sources.begin(), sources.end());
    device_of.insert(device_of.end(), sources.size(), number++);
  }
  if (number > 1) selectors.push_back(learn_one(table, all, device_of, options, cross_validate));
  return selectors;
}

std::vector<std::uint8_t> write_selectors(const PerformanceTable& table,
                                          const std::vector<LearnedSelector>& selectors) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<model_schema::Selector>> entries;
  for (const LearnedSelector& selector : selectors) {
    std::vector<std::int64_t> values;
    for (const std::size_t c : selector.classes) {
      const Configuration& configuration = table.configurations()[c];
      values.insert(values.end(), configuration.values().begin(), configuration.values().end());
    }
    const auto device =
        selector.device.empty()
            ? flatbuffers::Offset<flatbuffers::String>()
            : builder.CreateString(selector.device.substr(0, model_schema::kMaxNameBytes));
    const auto inputs = builder.CreateVectorOfStrings(selector.inputs);
    const auto low = builder.CreateVector(selector.low);
    const auto high = builder.CreateVector(selector.high);
    const auto exponents = builder.CreateVector(selector.exponents);
    const auto classes = builder.CreateVector(values);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(selector.nodes.data());
    const std::size_t size = selector.nodes.size() * sizeof(TreeNode);
    builder.ForceVectorAlignment(size, sizeof(std::uint8_t), 8);
    const auto nodes = builder.CreateVector(bytes, size);
    entries.push_back(model_schema::CreateSelector(builder, device, inputs, low, high, exponents,
                                                   classes, nodes));
  }
  builder.Finish(model_schema::CreateSelectorSection(builder, builder.CreateVector(entries)));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace idletune
