// What the engine needs of something that learns a kernel's model anew (SearchLearner::retrainer).
#pragma once

#include <idletune/device.hpp>

namespace idletune::detail {

// For one kernel, under the engine's lock.
class Retrainer {
 public:
  virtual ~Retrainer() = default;
  // Does the next stage if one is due that probably ends within `left`; may change the kernel's
  // model. False: nothing was done.
  virtual bool step(Nanoseconds left) = 0;
};

}  // namespace idletune::detail
