// How features become the inputs of support vectors and perceptrons. Host side.
#pragma once

#include <vector>

#include <idletune/result.hpp>

#include "models/forest/dataset.hpp"
#include "models/host/learners/input_coding.hpp"

namespace idletune::learners {

// Categories become one input each; numbers stay as they are or, if `standardize`, get mean 0 and
// standard deviation 1 over the rows (constant ones become 0). The data must have passed check().
// Errors: invalid_argument if that makes more than kMaxInputs inputs.
Result<std::vector<InputColumn>> input_columns(const Dataset& data, bool standardize);

// Mean and standard deviation (1 for equal targets) of a regression's targets.
struct TargetScale {
  double mean = 0;
  double deviation = 1;
};
TargetScale target_scale(const Dataset& data);

}  // namespace idletune::learners
