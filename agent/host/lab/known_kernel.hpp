// What a model has to say about the kernel of a recorded device: the same to all who play on it.
// Host side.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agent/tuning/kernel_model.hpp"
#include "models/host/history/history.hpp"
#include "models/predict/model.hpp"

namespace idletune {

struct KnownKernel {
  std::shared_ptr<const KernelModel> model;  // null: it does not know the kernel
  std::optional<FirstPick> first_pick;
  std::string no_first_pick;  // why there is none; empty if there is one
};

// `model` may be null; `space` is that of the history.
KnownKernel known_kernel(const std::shared_ptr<const Model>& model, const History& history,
                         const Space& space);

// The pick for the history's device and shape; `model` may be null.
std::optional<FirstPick> first_pick_on(const KernelModel* model, const History& history,
                                       const Space& space);

}  // namespace idletune
