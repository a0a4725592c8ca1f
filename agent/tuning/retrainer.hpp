// What the engine needs of something that learns a kernel's model anew (SearchLearner::retrainer).
#pragma once

#include <memory>

#include <idletune/device.hpp>

#include "agent/tuning/kernel_model.hpp"

namespace idletune::detail {

// For one kernel, under the engine's lock.
class Retrainer {
 public:
  virtual ~Retrainer() = default;
  // Does the next stage if one is due that probably ends within `left`. `model`: what is in force;
  // another one where one was learned. False: nothing was done.
  virtual bool step(Nanoseconds left, std::shared_ptr<const KernelModel>& model) = 0;
};

}  // namespace idletune::detail
