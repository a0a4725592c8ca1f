// Selecting a configuration by problem size: a decision tree read where it stands in a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <idletune/configuration.hpp>
#include <idletune/span.hpp>

#include "models/forest/tree_view.hpp"

namespace idletune {

// The tree asks for features, each the product of the inputs raised to small whole powers: M, M *
// N, M / N. Inputs are a problem's dimensions and features, numbers of at least 0 with names. A
// view into a verified model (or a learner's arrays); any thread.
class SelectorView {
 public:
  struct Choice {
    std::size_t number = 0;  // of the class
    double expected = 0;     // q, the mean over what the leaf was learned from
  };

  std::string_view device;  // learned on it; empty: on all devices of the model
  Span<const double> low;   // per input: the range it was learned in
  Span<const double> high;
  Span<const std::int8_t> exponents;  // features x inputs
  Span<const std::int64_t> classes;   // classes x parameters
  std::size_t parameters = 0;
  learners::TreeView tree;

  std::size_t input_count() const { return low.size(); }
  std::size_t feature_count() const { return low.empty() ? 0 : exponents.size() / low.size(); }
  std::size_t class_count() const { return parameters == 0 ? 0 : classes.size() / parameters; }
  Span<const std::int64_t> values(std::size_t number) const {
    return classes.subspan(number * parameters, parameters);
  }
  // Whether the inputs are as many as the tree's, and none is further than a factor kSelectorMargin
  // outside the range that it was learned in.
  bool covers(Span<const double> inputs) const;
  // One value per input, none negative. No allocation; some 45 ns for 1,300 leaves.
  Choice select(Span<const double> inputs) const;
};

// The feature of one row of exponents. Generated code computes exactly this.
inline float selector_feature(const std::int8_t* exponents, const double* inputs,
                              std::size_t count) {
  double above = 1;
  double below = 1;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::int8_t e = exponents[i]; e > 0; --e) above *= inputs[i];
    for (std::int8_t e = exponents[i]; e < 0; ++e) below *= inputs[i];
  }
  return static_cast<float>(below == 1 ? above : above / below);
}

}  // namespace idletune
