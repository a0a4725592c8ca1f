#include "agent/tuning/shape_work.hpp"

#include <utility>

namespace idletune::detail {
namespace {

template <typename State>
constexpr bool has_plan = !std::is_same_v<std::decay_t<State>, Resting> &&
                          !std::is_same_v<std::decay_t<State>, Installing>;

}  // namespace

std::optional<TrialRequest> next_request(const ShapeWork& work) {
  return std::visit(
      [](const auto& state) -> std::optional<TrialRequest> {
        if constexpr (has_plan<decltype(state)>) return state.plan.next();
        return std::nullopt;
      },
      work);
}

const JournaledTrial* journaled(const ShapeWork& work) {
  if (const auto* candidate = std::get_if<TryingCandidate>(&work)) return &candidate->journaled;
  return nullptr;
}

JournaledTrial* journaled(ShapeWork& work) {
  return const_cast<JournaledTrial*>(journaled(std::as_const(work)));
}

JournaledTrial* journaled_stage(ShapeWork& work) {
  const auto* candidate = std::get_if<TryingCandidate>(&work);
  if (candidate != nullptr && candidate->plan.next_is_incumbent()) return nullptr;
  return journaled(work);
}

void on_outcome(ShapeWork& work, const TrialOutcome& outcome) {
  std::visit(
      [&](auto& state) {
        if constexpr (has_plan<decltype(state)>) state.plan.on_outcome(outcome);
      },
      work);
}

bool done(const ShapeWork& work) {
  return std::visit(
      [](const auto& state) {
        if constexpr (has_plan<decltype(state)>) return state.plan.done();
        return false;
      },
      work);
}

}  // namespace idletune::detail
