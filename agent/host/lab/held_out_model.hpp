// Models for playing on a device as if nobody had measured it.
#pragma once

#include <memory>
#include <vector>

#include <idletune/result.hpp>

#include "models/host/history/history.hpp"
#include "models/predict/model.hpp"

namespace idletune {

// Those histories of `training` with the target's kernel that are not of the target's device,
// whatever it is called there (repeats and copies in other formats go with it).
std::vector<const History*> without_device_of(const History& target,
                                              const std::vector<const History*>& training);

// A model of those. Errors: those of learn (nothing is left, say) and Model::open.
Result<std::shared_ptr<const Model>> learn_held_out(const History& target,
                                                    const std::vector<const History*>& held_out);

}  // namespace idletune
