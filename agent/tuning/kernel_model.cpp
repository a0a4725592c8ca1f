#include "agent/tuning/kernel_model.hpp"

#include <utility>

#include "models/core/shared.hpp"

namespace idletune {

std::shared_ptr<const KernelModel> KernelModel::of(std::shared_ptr<const Model> model,
                                                   const KernelKnowledge* knowledge) {
  if (knowledge == nullptr) return nullptr;
  return new_shared<const KernelModel>(KernelModel{std::move(model), knowledge});
}

std::shared_ptr<const KernelModel> KernelModel::of(const std::shared_ptr<const Model>& model,
                                                   std::string_view name, const Space& space,
                                                   std::string_view inputs) {
  return model == nullptr ? nullptr : of(model, model->kernel(name, space, inputs));
}

}  // namespace idletune
