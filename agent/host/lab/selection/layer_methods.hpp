// Which library computes a network's layer fastest on one board's GPU: measured times, as methods
// to choose from by the layer's matrix product. Host side.
#pragma once

#include <string>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/host/learn/selection.hpp"

namespace idletune::offload {

// Of tables as import_layers reads them: forward convolutions and fully connected layers; a problem
// is a layer at a batch, its sizes are M, N and K of the matrix product (of one group of channels)
// and the batch, and all batches and layers of one product are one group. A method is a GPU
// back end in single precision, its time the median of the repeats. Errors: those of the tables;
// corrupt if fewer than 5 problems are left.
Result<selection::Problems> layer_methods(Bytes times_bytes, const std::string& times_path,
                                          Bytes shape_bytes, const std::string& shapes_path);

}  // namespace idletune::offload
