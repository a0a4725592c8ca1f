// What a state says of configurations that lost their shape.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/journal/state.hpp"

namespace idletune::journal {

// How often the trial's configuration has lost; nothing: it did not.
inline std::optional<std::uint32_t> losses_of(const State& state, const Trial& trial) {
  std::optional<std::uint32_t> losses;
  state.for_each_demotion(trial.shape_key(), [&](const Demotion& demotion) {
    if (demotion.configuration == trial.configuration) losses = demotion.losses;
  });
  return losses;
}

}  // namespace idletune::journal
