// What a model says about one kernel, shared by the searches for all of its shapes.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "models/predict/model.hpp"
#include "models/space/space.hpp"

namespace idletune {

// The quantiles of relative performance over a model's sources of one kernel, in equal parts.
struct KernelQuantiles {
  std::array<float, kQuantileCount> values{};
  std::array<float, kQuantileCount> levels{};

  KernelQuantiles() = default;
  explicit KernelQuantiles(const KernelKnowledge& knowledge);
};

// Immutable. Those who were set up with it hold it: an earlier model lives until the last of them
// has gone over to the next.
struct KernelModel {
  std::shared_ptr<const Model> model;          // keeps `knowledge` alive; null: somebody else does
  const KernelKnowledge* knowledge = nullptr;  // not null
  KernelQuantiles quantiles;

  // Null if `knowledge` is.
  static std::shared_ptr<const KernelModel> of(std::shared_ptr<const Model> model,
                                               const KernelKnowledge* knowledge);
  // Of Model::kernel(); null if the model (which may be null) has none.
  static std::shared_ptr<const KernelModel> of(const std::shared_ptr<const Model>& model,
                                               std::string_view name, const Space& space,
                                               std::string_view inputs = {});
};

}  // namespace idletune
