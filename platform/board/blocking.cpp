#include "platform/board/board.hpp"

namespace idletune {

std::optional<std::string_view> blocks_tuning(const BoardState& state, const BoardLimits& limits) {
  const bool unplugged = state.on_mains.has_value() && !*state.on_mains;
  if (limits.require_mains && unplugged) return "running on battery";
  // A board that does not say whether it is plugged in is taken to be unplugged here.
  const bool plugged = state.on_mains.value_or(false);
  if (!plugged && state.battery && *state.battery < limits.min_battery) return "battery low";
  if (state.thermal_margin_c && *state.thermal_margin_c < limits.min_thermal_margin_c) {
    return "board too hot";
  }
  if (state.gpu_load && *state.gpu_load > limits.max_gpu_load) return "GPU busy";
  return std::nullopt;
}

}  // namespace idletune
