// The one interface of everything that learns from measurements on a host: decision tree, random
// forest and k nearest neighbours (this room), support vectors and perceptron (the lab), and what
// speeds up a loop (models/host/offload). Boards grow trees without it (models/forest).
#pragma once

#include <cstddef>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/forest/dataset.hpp"
#include "models/forest/tree_view.hpp"

namespace idletune::learners {

// Not for use by several threads at once while fitting; afterwards predict from any thread.
class Learner {
 public:
  virtual ~Learner() = default;
  // Learns from `data` alone and forgets what was learned before; on failure the learner is as it
  // was. The data may go away afterwards. Deterministic: the same data and options give the same
  // predictions. Errors: what check(data) says; out_of_memory if it would exceed its memory limit.
  virtual Status fit(const Dataset& data) = 0;
  // `row` holds one value per column of the data of the last fit that succeeded (a programming
  // error otherwise: such a row, and a learner without any fit, answers 0). Values that never
  // occurred are allowed, also NaN.
  virtual Prediction predict(Span<const float> row) const = 0;
  virtual const char* name() const = 0;  // "cart", "forest", "knn", "svm", "mlp"
};

}  // namespace idletune::learners
