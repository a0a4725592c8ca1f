#include "models/host/learners/perceptron.hpp"

#include <cmath>
#include <utility>

namespace idletune::learners {
namespace {

static_assert(kMaxLayerWidth >= kMaxInputs, "inputs and layers share their buffers");

Status corrupt_perceptron(const char* what) {
  return Status(StatusCode::corrupt, "perceptron: %", what);
}

// One neuron; advances `weights` behind its bias.
float weighted_sum(const float* inputs, std::size_t count, const float*& weights) {
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += inputs[i] * weights[i];
  sum += weights[count];
  weights += count + 1;
  return sum;
}

}  // namespace

float PerceptronView::predict(Span<const float> row) const {
  float first[kMaxLayerWidth] = {}, second[kMaxLayerWidth] = {};
  float* inputs = first;
  float* outputs = second;
  code_inputs(columns, row, inputs);
  std::size_t count = input_width(columns);
  const float* next = weights.data();
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const bool hidden = layer + 1 < layers.size();
    for (std::uint32_t n = 0; n < layers[layer]; ++n) {
      const float sum = weighted_sum(inputs, count, next);
      outputs[n] = hidden ? std::tanh(sum) : sum;
    }
    count = layers[layer];
    std::swap(inputs, outputs);
  }
  if (classes == 0) return offset + factor * inputs[0];
  std::size_t best = 0;
  for (std::size_t c = 1; c < count; ++c) best = inputs[c] > inputs[best] ? c : best;
  return static_cast<float>(best);
}

Status verify(const PerceptronView& perceptron) {
  if (Status columns = verify(perceptron.columns); !columns.ok()) return columns;
  if (perceptron.layers.empty() || perceptron.layers.size() > kMaxLayers) {
    return corrupt_perceptron("the number of layers");
  }
  std::size_t before = input_width(perceptron.columns);
  std::uint64_t weights = 0;
  for (const std::uint32_t width : perceptron.layers) {
    if (width == 0 || width > kMaxLayerWidth) return corrupt_perceptron("a layer's width");
    weights += static_cast<std::uint64_t>(width) * (before + 1);
    before = width;
  }
  if (before != (perceptron.classes == 0 ? 1 : perceptron.classes))
    return corrupt_perceptron("the number of outputs");
  if (perceptron.weights.size() != weights) return corrupt_perceptron("the number of weights");
  for (const float weight : perceptron.weights) {
    if (!std::isfinite(weight)) return corrupt_perceptron("a weight is not finite");
  }
  if (!std::isfinite(perceptron.offset) || !std::isfinite(perceptron.factor)) {
    return corrupt_perceptron("the output's scale is not finite");
  }
  return {};
}

}  // namespace idletune::learners
