// What the board says about itself.
#include <utility>

#include "agent/board_command/verbs.hpp"
#include "platform/board/board.hpp"
#include "platform/board/meters.hpp"

namespace idletune::board {
namespace {

std::optional<double> in_hertz(std::optional<std::uint64_t> clock) {
  if (!clock) return {};
  return static_cast<double>(*clock);
}

void tell_flag(const char* name, std::optional<bool> value, Facts& answer) {
  if (value) return answer.flag(name, *value);
  answer.nothing(name);
}

}  // namespace

Status tell_sensors(const Call& call, Facts& answer) {
  const std::string root = call.option("sysfs", "/sys");
  Board board = Board::open(root);
  BoardMeters meters = BoardMeters::open(root);
  const BoardState state = board.read();
  const MeterState metered = meters.read();
  answer.number("temperature_c", state.temperature_c);
  answer.number("thermal_margin_c", state.thermal_margin_c);
  tell_flag("on_mains", state.on_mains, answer);
  answer.number("battery", state.battery);
  answer.number("gpu_load", state.gpu_load);
  answer.number("gpu_clock_hz", in_hertz(metered.gpu_clock_hz));
  answer.number("gpu_max_clock_hz", in_hertz(metered.gpu_max_clock_hz));
  answer.number("cpu_clock_hz", in_hertz(metered.cpu_clock_hz));
  answer.number("cpu_max_clock_hz", in_hertz(metered.cpu_max_clock_hz));
  answer.number("power_w", metered.power_w);
  std::vector<Facts> zones;
  for (const ThermalZone& zone : board.thermal_zones()) {
    zones.emplace_back(answer.json());
    zones.back().text("type", zone.type);
    zones.back().number("temperature_c", zone.temperature_c);
    zones.back().number("trip_c", zone.trip_c);
  }
  answer.list("thermal_zones", std::move(zones));
  std::vector<Facts> rails;
  for (const PowerRail& rail : meters.power_rails()) {
    rails.emplace_back(answer.json());
    rails.back().text("name", rail.name);
    rails.back().number("power_w", rail.power_w);
  }
  answer.list("power_rails", std::move(rails));
  return {};
}

}  // namespace idletune::board
