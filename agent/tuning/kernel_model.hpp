// What a model says about one kernel, shared by the searches for all of its shapes.
#pragma once

#include <memory>
#include <string_view>

#include "models/predict/model.hpp"
#include "models/space/space.hpp"

namespace idletune {

// Immutable. Those who were set up with it hold it: an earlier model lives until the last of them
// has gone over to the next.
struct KernelModel {
  std::shared_ptr<const Model> model;          // keeps `knowledge` alive; null: somebody else does
  const KernelKnowledge* knowledge = nullptr;  // not null

  // Null if `knowledge` is.
  static std::shared_ptr<const KernelModel> of(std::shared_ptr<const Model> model,
                                               const KernelKnowledge* knowledge);
  // Of Model::kernel(); null if the model (which may be null) has none.
  static std::shared_ptr<const KernelModel> of(const std::shared_ptr<const Model>& model,
                                               std::string_view name, const Space& space,
                                               std::string_view inputs = {});
};

}  // namespace idletune
