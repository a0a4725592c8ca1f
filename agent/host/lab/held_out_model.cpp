#include "agent/host/lab/held_out_model.hpp"

#include <utility>

#include "models/devices/device_names.hpp"
#include "models/host/learn/learn.hpp"

namespace idletune {

std::vector<const History*> without_device_of(const History& target,
                                              const std::vector<const History*>& training) {
  std::vector<const History*> others;
  for (const History* history : training) {
    if (history->kernel == target.kernel && !same_device_model(history->device, target.device)) {
      others.push_back(history);
    }
  }
  return others;
}

Result<std::shared_ptr<const Model>> learn_held_out(const History& target,
                                                    const std::vector<const History*>& held_out) {
  LearnOptions options;
  options.cross_validate = false;
  options.emulated = true;  // who asks has looked
  Result<LearnedModel> learned = learn(held_out, options);
  if (!learned.ok()) return learned.status();
  return Model::open(std::move(learned->bytes), "without " + target.device);
}

}  // namespace idletune
