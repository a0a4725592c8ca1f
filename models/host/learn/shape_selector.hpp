// Learning which configuration to choose for which problem size: CART over the problem's dimensions
// and their products and ratios (Cianfriglia et al. 2018, sections 3 and 4). Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/forest/tree_node.hpp"
#include "models/host/learn/performance_table.hpp"
#include "models/predict/selector.hpp"

namespace idletune {

struct SelectorOptions {
  bool learn = true;
  std::size_t height = 0;  // H: splits on a path at most; 0: chosen by cross-validation
  // L: rows that a leaf has at least if 1 or more, else that share of all rows; 0: chosen likewise.
  double leaf = 0;
  bool derived_features = true;     // offer products and ratios of the inputs beside the inputs
  std::size_t classes = 64;         // configurations that the tree chooses from, at most
  std::size_t least_shapes = 4;     // of a device; with fewer there is nothing to learn
  std::size_t folds = 10;           // of the cross-validation
  std::vector<std::string> inputs;  // names of the dimensions; missing ones are size_0, size_1, ...
};

struct LearnedSelector {
  std::string device;               // empty: over all devices
  std::vector<std::string> inputs;  // names
  std::vector<double> low;
  std::vector<double> high;
  std::vector<std::int8_t> exponents;  // features x inputs
  std::vector<std::size_t> classes;    // configurations, by their number in the table
  std::vector<learners::TreeNode> nodes;
  std::size_t height_limit = 0;  // H and L that it was grown with
  double leaf_limit = 0;

  // On shapes that were left out, fold by fold, H and L chosen anew without them (over all devices:
  // on devices that were left out). Where a tree was no better there than one configuration, it is
  // one leaf with that, and this is what that does.
  std::size_t shapes = 0;
  std::size_t folds = 0;  // 0: not cross-validated
  double retained = 0;    // mean q of the chosen configuration: their DTPR
  double worst = 0;
  double against_single = 0;  // mean q ratio to the one configuration that is best over the other
                              // shapes: DTTR, for a library that is tuned once
  double single = 0;          // mean q of that one configuration
  double accuracy = 0;        // share of shapes for which it named the best class

  learners::TreeView tree() const { return learners::TreeView({nodes.data(), nodes.size()}); }
};

// One for each device with enough shapes of as many dimensions, that with most shapes first; one over
// all if there are several such and it does better than one configuration. What is best at a shape is learned from the
// classes that were measured there; unmeasured ones count with the shape's mean. `cross_validate`
// false leaves the quality 0. Deterministic.
std::vector<LearnedSelector> learn_selectors(const PerformanceTable& table,
                                             const SelectorOptions& options, bool cross_validate);

// The bytes of the model's sections. Values are written in the table's parameter order.
std::vector<std::uint8_t> write_selectors(const PerformanceTable& table,
                                          const std::vector<LearnedSelector>& selectors);

}  // namespace idletune
