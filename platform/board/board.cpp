#include "platform/board/board.hpp"

#include <idletune/text.hpp>

#include <algorithm>

#include "platform/board/sysfs.hpp"

namespace idletune {
namespace {

using sysfs::names_in;
using sysfs::read_integer;
using sysfs::Text;

constexpr std::int64_t kColdestC = -60;
constexpr std::int64_t kHottestC = 200;
constexpr int kMaxTripPoints = 16;

// Nothing for what no board survives: disabled sensors answer such values.
std::optional<double> read_celsius(const std::string& path, std::int64_t units_per_degree) {
  const auto value = read_integer(path);
  if (!value || *value <= kColdestC * units_per_degree || *value >= kHottestC * units_per_degree) {
    return std::nullopt;
  }
  return static_cast<double>(*value) / static_cast<double>(units_per_degree);
}

// Zones that do not hold a temperature one could act on: Jetson's PMIC zone always says 100 °C, and
// Qualcomm kernels list battery levels, voltages and currents as zones.
bool is_temperature(std::string_view type) {
  if (type == "PMIC-Die" || type == "soc") return false;
  static constexpr char kParts[][5] = {"vbat", "ibat", "vph", "bcl"};
  for (const std::string_view part : kParts) {
    if (type.find(part) != std::string_view::npos) return false;
  }
  return true;
}

std::string trip_path(const std::string& zone, int trip) {
  return joined("%/trip_point_%", zone, trip);
}

// Millidegrees by the kernel's rule; some vendors' kernels give degrees, and then nothing in the
// zone (its temperature and all its trips) is as large as a plausible value in millidegrees.
std::int64_t find_units_per_degree(const std::string& zone) {
  std::int64_t largest = read_integer(zone, "/temp").value_or(0);
  for (int i = 0; i < kMaxTripPoints; ++i) {
    largest = std::max(largest, read_integer(trip_path(zone, i), "_temp").value_or(0));
  }
  return largest > 0 && largest < kHottestC ? 1 : 1000;
}

// The lowest trip of the gentlest kind that the zone has.
std::optional<double> find_trip(const std::string& zone, std::int64_t units_per_degree) {
  std::optional<double> passive, severe;
  for (int i = 0; i < kMaxTripPoints; ++i) {
    const std::string trip = trip_path(zone, i);
    const Text type(trip, "_type");
    const auto celsius = read_celsius(trip + "_temp", units_per_degree);
    if (!celsius || *celsius <= 0) continue;  // a trip at 0 is one that was never set
    if (type.view() == "passive") {
      passive = std::min(passive.value_or(*celsius), *celsius);
    } else if (type.view() == "hot" || type.view() == "critical") {
      severe = std::min(severe.value_or(*celsius), *celsius);
    }
  }
  return passive ? passive : severe;
}

}  // namespace

Board Board::open(const std::string& sysfs_root) {
  Board board;
  board.find_zones(sysfs_root);
  board.find_supplies(sysfs_root);
  board.find_gpu(sysfs_root);
  return board;
}

void Board::find_zones(const std::string& root) {
  const std::string folder = root + "/class/thermal/";
  for (const std::string& name : names_in(folder, "thermal_zone")) {
    const std::string zone = folder + name;
    const Text type(zone, "/type");
    if (!is_temperature(type.view()) || !sysfs::exists(zone, "/temp")) continue;
    const std::int64_t units = find_units_per_degree(zone);
    zones_.push_back({std::string(type.view()), zone + "/temp", units, find_trip(zone, units), {}});
  }
}

void Board::find_supplies(const std::string& root) {
  const std::string folder = root + "/class/power_supply/";
  for (const std::string& name : names_in(folder)) {
    const std::string supply = folder + name;
    // Batteries of mice and headsets say "Device".
    if (Text(supply, "/scope").view() == "Device") continue;
    const Text type(supply, "/type");
    if (type.view().empty()) continue;
    supplies_.push_back(
        {type.view() == "Battery", supply + "/online", supply + "/capacity", supply + "/status"});
  }
}

void Board::find_gpu(const std::string& root) {
  // The first file that is there counts.
  const auto add_load = [this](const std::string& folder, const char* name, LoadUnit unit) {
    if (gpu_load_.file.empty() && sysfs::exists(folder, name)) gpu_load_ = {folder + name, unit};
  };
  const std::string kgsl = root + "/class/kgsl/kgsl-3d0";
  add_load(kgsl, "/gpubusy", LoadUnit::busy_and_total);
  add_load(kgsl, "/gpu_busy_percentage", LoadUnit::percent);
  // Arrays of texts, since pointers to them would be moved into place at the start.
  static constexpr char kJetson[][42] = {"/devices/gpu.0/load", "/devices/platform/gpu.0/load",
                                         "/devices/platform/bus@0/17000000.gpu/load"};
  for (const char* jetson : kJetson) add_load(root, jetson, LoadUnit::permille);
  const std::string devfreq = root + "/class/devfreq/";
  for (const std::string& name : names_in(devfreq)) {
    if (!sysfs::is_gpu(name)) continue;
    const std::string gpu = devfreq + name;
    add_load(gpu, "/device/load", LoadUnit::permille);  // Jetson
    add_load(gpu, "/load", LoadUnit::percent);          // Rockchip: "45@800000000Hz"
    add_load(gpu, "/device/utilization", LoadUnit::percent);
    add_load(gpu, "/device/utilisation", LoadUnit::percent);
  }
  static constexpr char kOthers[][41] = {
      "/class/misc/mali0/device/utilization", "/class/misc/mali0/device/utilisation",
      "/kernel/gpu/gpu_busy", "/class/drm/card0/device/gpu_busy_percent"};
  for (const char* other : kOthers) add_load(root, other, LoadUnit::percent);
}

BoardState Board::read() {
  BoardState state;
  read_zones(state);
  read_supplies(state);
  state.gpu_load = read_load(gpu_load_);
  return state;
}

void Board::read_zones(BoardState& state) {
  for (ThermalZone& zone : zones_) {
    zone.temperature_c = read_celsius(zone.file, zone.units_per_degree);
    if (!zone.temperature_c) continue;
    const double celsius = *zone.temperature_c;
    state.temperature_c = std::max(state.temperature_c.value_or(celsius), celsius);
    if (!zone.trip_c) continue;
    const double margin = *zone.trip_c - celsius;
    state.thermal_margin_c = std::min(state.thermal_margin_c.value_or(margin), margin);
  }
}

void Board::read_supplies(BoardState& state) const {
  bool battery = false;
  bool discharging = false;
  std::optional<bool> plugged;
  std::optional<bool> fed;  // what batteries let conclude where no supply says whether it is online
  for (const Supply& supply : supplies_) {
    if (!supply.battery) {
      const auto online = read_integer(supply.online);
      if (online) plugged = plugged.value_or(false) || *online > 0;
      continue;
    }
    battery = true;
    const auto percent = read_integer(supply.capacity);
    if (percent && *percent >= 0 && *percent <= 100) {
      const double charge = static_cast<double>(*percent) / 100;
      state.battery = std::min(state.battery.value_or(charge), charge);
    }
    const Text status(supply.status);
    if (status.view() == "Discharging") discharging = true;
    if (status.view() == "Charging" || status.view() == "Full") fed = true;
  }
  // Without a battery there is nothing else to run on, whichever socket feeds the board.
  if (plugged && !battery) plugged = true;
  // A charger that cannot keep up is no mains.
  state.on_mains = discharging ? std::optional<bool>(false) : plugged ? plugged : fed;
}

std::optional<double> Board::read_load(const Load& load) {
  if (load.file.empty()) return std::nullopt;
  const Text text(load.file);
  std::string_view rest = text.view();
  const auto first = sysfs::take_integer(rest);
  if (!first || *first < 0) return std::nullopt;
  double whole = load.unit == LoadUnit::permille ? 1000 : 100;
  if (load.unit == LoadUnit::busy_and_total) {
    const auto total = sysfs::take_integer(rest);
    if (!total || *total < 0) return std::nullopt;
    if (*total == 0) return *first == 0 ? std::optional<double>(0.0) : std::nullopt;  // asleep
    whole = static_cast<double>(*total);
  }
  const double value = static_cast<double>(*first) / whole;
  return value <= 1 ? std::optional<double>(value) : std::nullopt;
}

}  // namespace idletune
