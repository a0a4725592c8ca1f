#include "agent/host/lab/known_kernel.hpp"

namespace idletune {
namespace {

// A parameter of the space with several values that an entry for the kernel lacks, if any.
std::string why_no_pick(const Model& model, const History& history, const Space& space) {
  bool named = false;
  for (const KernelKnowledge& kernel : model.kernels()) {
    if (kernel.name() != history.kernel) continue;
    named = true;
    for (std::size_t p = 0; p < space.parameter_count(); ++p) {
      const std::string_view name = space.parameter_name(p);
      if (space.parameter_values(p).size() > 1 && kernel.column_of(name) < 0)
        return "the model of " + history.kernel + " lacks parameter " + std::string(name);
    }
  }
  if (named) return "nothing that the model names is in this space";
  return "the model does not know " + history.kernel;
}

std::string named_inputs(const History& history) {
  std::string names;
  for (const std::string& name : history.inputs) names += (names.empty() ? "" : " ") + name;
  return names;
}

}  // namespace

KnownKernel known_kernel(const std::shared_ptr<const Model>& model, const History& history,
                         const Space& space) {
  KnownKernel known;
  if (model == nullptr) {
    known.no_first_pick = "there is no model";
    return known;
  }
  known.model = KernelModel::of(model, history.kernel, space, named_inputs(history));
  known.first_pick = first_pick_on(known.model.get(), history, space);
  if (!known.first_pick) known.no_first_pick = why_no_pick(*model, history, space);
  return known;
}

std::optional<FirstPick> first_pick_on(const KernelModel* model, const History& history,
                                       const Space& space) {
  if (model == nullptr) return std::nullopt;
  return first_pick(*model->knowledge, space, history.shape, history.device);
}

}  // namespace idletune
