// Multilayer perceptrons, learned elsewhere (agent/host/lab/learners/perceptron_training.hpp): predicting
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/host/learners/input_coding.hpp"

namespace idletune::learners {

inline constexpr std::size_t kMaxLayerWidth = 1024;
inline constexpr std::size_t kMaxLayers = 8;  // hidden ones and the output

// Plain numbers, so that they can be read where they are stored. Every neuron of a layer sums the
// layer before, weighted, and its bias; hidden ones pass it through tanh. Regression: one output,
// value = offset + factor * output. Classification: one output per class, the largest wins, the
// lowest class among equals.
struct PerceptronView {
  Span<const InputColumn> columns;
  Span<const std::uint32_t> layers;  // widths of the hidden layers and of the output
  Span<const float> weights;  // layer by layer, neuron by neuron: inputs' weights, then the bias
  std::uint32_t classes = 0;  // 0: regression
  float offset = 0;
  float factor = 1;

  // The value, or the class number. `row` has one value per column. No allocation; 8 KiB of stack.
  float predict(Span<const float> row) const;
};

// Errors: corrupt, naming what: sizes that disagree or exceed the limits, numbers that are not
// finite.
Status verify(const PerceptronView& perceptron);

struct Perceptron {
  std::vector<InputColumn> columns;
  std::vector<std::uint32_t> layers;
  std::vector<float> weights;
  std::uint32_t classes = 0;
  float offset = 0;
  float factor = 1;

  PerceptronView view() const { return {columns, layers, weights, classes, offset, factor}; }
};

}  // namespace idletune::learners
