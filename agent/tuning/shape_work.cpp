#include "agent/tuning/shape_work.hpp"

#include <array>
#include <utility>

namespace idletune::detail {
namespace {

template <typename State>
constexpr bool has_plan = !std::is_same_v<std::decay_t<State>, Resting> &&
                          !std::is_same_v<std::decay_t<State>, Installing>;

std::array<JournaledTrial*, 2> trials_of(ShapeWork& work) {
  if (auto* recheck = std::get_if<Rechecking>(&work)) return {&recheck->journaled};
  auto* candidate = std::get_if<TryingCandidate>(&work);
  if (candidate == nullptr) return {};
  return {&candidate->journaled, candidate->incumbent ? &*candidate->incumbent : nullptr};
}

}  // namespace

std::optional<TrialRequest> next_request(const ShapeWork& work) {
  return std::visit(
      [](const auto& state) -> std::optional<TrialRequest> {
        if constexpr (has_plan<decltype(state)>) return state.plan.next();
        return std::nullopt;
      },
      work);
}

Nanoseconds next_run(const ShapeWork& work) {
  const auto* candidate = std::get_if<TryingCandidate>(&work);
  return candidate != nullptr ? candidate->plan.next_run() : Nanoseconds{0};
}

const JournaledTrial* journaled(const ShapeWork& work) {
  if (const auto* candidate = std::get_if<TryingCandidate>(&work)) return &candidate->journaled;
  return nullptr;
}

JournaledTrial* journaled_stage(ShapeWork& work) {
  if (auto* recheck = std::get_if<Rechecking>(&work)) {
    return recheck->plan.next_is_incumbent() ? nullptr : &recheck->journaled;
  }
  auto* candidate = std::get_if<TryingCandidate>(&work);
  if (candidate == nullptr) return nullptr;
  if (!candidate->plan.next_is_incumbent()) return &candidate->journaled;
  return candidate->incumbent ? &*candidate->incumbent : nullptr;
}

void rest(ShapeWork& work) {
  for (JournaledTrial* trial : trials_of(work)) {
    if (trial != nullptr) trial->rest();
  }
}

void end(ShapeWork& work) {
  for (JournaledTrial* trial : trials_of(work)) {
    if (trial != nullptr) trial->ended();
  }
  rest(work);
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
