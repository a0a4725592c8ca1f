// How a model learned without a device does on that device. Host side.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/host/learn/learn.hpp"
#include "models/host/learn/performance_table.hpp"
#include "models/predict/model.hpp"

namespace idletune {

struct ModelWithout {
  std::string device;
  std::shared_ptr<const Model> model;
};

// For each device of the histories what learn() makes of those of the others, if it makes anything.
std::vector<ModelWithout> learn_without_each(const std::vector<const History*>& histories,
                                             const LearnOptions& options);

// What a board of each source begins with, with the model without its device, if there is one.
std::vector<HeldOutResult> cross_validate(const PerformanceTable& table,
                                          const std::vector<ModelWithout>& models);

}  // namespace idletune
