#include "models/host/offload/layer_features.hpp"

#include <algorithm>
#include <cmath>

namespace idletune::offload {

namespace {

// A layer that large is none, but must not overflow.
constexpr double kMostBytes = 1e18;

// Arithmetic per element of the output, and how much of it is powers and exponentials.
struct Work {
  double operations = 1;
  double special = 0;
  double weights = 0;  // numbers that belong to the layer
  double depth = 0;    // numbers that are summed up for one output
};

double window_of(const LayerShape& shape) {
  return shape.kernel * (shape.kernel_width > 0 ? shape.kernel_width : shape.kernel);
}

Work work_of(const LayerShape& shape) {
  Work work;
  const double window = window_of(shape);
  if (shape.kind == "Convolution") {
    work.depth = shape.in_channels / shape.groups * window;
    work.operations = 2 * work.depth + 1;
    work.weights = shape.out_channels * (work.depth + 1);
  } else if (shape.kind == "InnerProduct") {
    work.depth = shape.in_channels * std::max(1.0, shape.in_pixels);
    work.operations = 2 * work.depth + 1;
    work.weights = shape.out_channels * (work.depth + 1);
  } else if (shape.kind == "Pooling") {
    work.operations = std::max(1.0, window);
  } else if (shape.kind == "LRN") {
    work.operations = 2 * shape.kernel + 4;
    work.special = 1;
  } else if (shape.kind == "Softmax") {
    work.operations = 5;
    work.special = 1;
  } else if (shape.kind != "ReLU") {
    work.operations = 0.01;  // copies, or nothing: not 0, which has no logarithm
  }
  return work;
}

}  // namespace

const FeatureSet& layer_features() {
  static const FeatureSet set{"layer",
                              1,
                              {"operations", "bytes", "intensity", "outputs", "depth", "weights",
                               "special", "window", "stride", "groups", "in_channels", "in_pixels",
                               "out_channels", "out_pixels", "batch", "shrinks"}};
  return set;
}

void describe_layer(const LayerShape& shape, double batch, Sample& sample) {
  const Work work = work_of(shape);
  const double inputs = batch * shape.in_channels * std::max(1.0, shape.in_pixels);
  const double outputs =
      std::max(1.0, batch * shape.out_channels * std::max(1.0, shape.out_pixels));
  const double operations = outputs * work.operations;
  const double bytes = 4 * (inputs + outputs + work.weights);
  sample.bytes_in = static_cast<std::uint64_t>(std::min(kMostBytes, 4 * (inputs + work.weights)));
  sample.bytes_out = static_cast<std::uint64_t>(std::min(kMostBytes, 4 * outputs));
  sample.features = {operations,
                     bytes,
                     operations / bytes,
                     outputs,
                     work.depth,
                     work.weights,
                     outputs * work.special,
                     shape.kernel_width > 0 ? std::sqrt(window_of(shape)) : shape.kernel,
                     shape.stride,
                     shape.groups,
                     shape.in_channels,
                     shape.in_pixels,
                     shape.out_channels,
                     shape.out_pixels,
                     batch,
                     inputs > 0 ? outputs / inputs : 0};
}

}  // namespace idletune::offload
