// What a neural network's layer must compute and move, from its shape alone. Host side.
#pragma once

#include <string>

#include "models/host/offload/sample.hpp"

namespace idletune::offload {

// 0: does not apply.
struct LayerShape {
  std::string kind;  // "Convolution", "Pooling", "LRN", "ReLU", "InnerProduct", "Softmax", ...
  double in_channels = 0;
  double in_pixels = 0;
  double out_channels = 0;
  double out_pixels = 0;
  double kernel = 0;  // the side of a window of pixels; of normalisation: channels in a window
  double kernel_width = 0;  // of a window that is not square: its other side; 0: it is square
  double stride = 0;
  double groups = 1;
};

// "operations", "bytes", ...: what describe_layer() computes, in its order.
const FeatureSet& layer_features();

// Adds the features of that layer for so many images at once, and the bytes that a GPU would read
// and write. Single precision.
void describe_layer(const LayerShape& shape, double batch, Sample& sample);

}  // namespace idletune::offload
