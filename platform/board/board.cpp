#include "platform/board/board.hpp"

#include <idletune/text.hpp>

#include <algorithm>
#include <utility>

#include "platform/board/sysfs.hpp"

namespace idletune {
namespace {

using sysfs::names_in;
using sysfs::read_integer;
using sysfs::Text;

constexpr std::int64_t kColdestC = -60;
constexpr std::int64_t kHottestC = 200;
constexpr int kMaxTripPoints = 16;
constexpr int kMaxRailsPerChip = 3;  // an INA3221's higher numbers are shunt voltages and sums
constexpr double kMaxPlausibleWatts = 10000;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

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
  for (std::string_view part : {"vbat", "ibat", "vph", "bcl"}) {
    if (contains(type, part)) return false;
  }
  return true;
}

std::string trip_path(const std::string& zone, int trip) {
  return joined({zone, "/trip_point_", trip});
}

// Millidegrees by the kernel's rule; some vendors' kernels give degrees, and then nothing in the
// zone (its temperature and all its trips) is as large as a plausible value in millidegrees.
std::int64_t find_units_per_degree(const std::string& zone) {
  std::int64_t largest = read_integer({zone, "/temp"}).value_or(0);
  for (int i = 0; i < kMaxTripPoints; ++i) {
    largest = std::max(largest, read_integer({trip_path(zone, i), "_temp"}).value_or(0));
  }
  return largest > 0 && largest < kHottestC ? 1 : 1000;
}

// The lowest trip of the gentlest kind that the zone has.
std::optional<double> find_trip(const std::string& zone, std::int64_t units_per_degree) {
  std::optional<double> passive, severe;
  for (int i = 0; i < kMaxTripPoints; ++i) {
    const std::string trip = trip_path(zone, i);
    const Text type({trip, "_type"});
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

// Whether a devfreq device is the GPU itself (and not the bus bandwidth it asks for).
bool is_gpu(std::string_view name) {
  if (contains(name, "gpubw") || contains(name, "busmon")) return false;
  for (std::string_view part : {"gpu", "mali", "ga10b", "gv11b", "gp10b", "gm20b", "kgsl"}) {
    if (contains(name, part)) return true;
  }
  return false;
}

}  // namespace

Board Board::open(const std::string& sysfs_root) {
  Board board;
  board.find_zones(sysfs_root);
  board.find_supplies(sysfs_root);
  board.find_gpu(sysfs_root);
  board.find_cpu(sysfs_root);
  board.find_rails(sysfs_root);
  return board;
}

void Board::find_zones(const std::string& root) {
  const std::string folder = root + "/class/thermal/";
  for (const std::string& name : names_in(folder, "thermal_zone")) {
    const std::string zone = folder + name;
    const Text type({zone, "/type"});
    if (!is_temperature(type.view()) || !sysfs::exists({zone, "/temp"})) continue;
    const std::int64_t units = find_units_per_degree(zone);
    zones_.push_back({std::string(type.view()), find_trip(zone, units), std::nullopt});
    zone_files_.push_back({zone + "/temp", units});
  }
}

void Board::find_supplies(const std::string& root) {
  const std::string folder = root + "/class/power_supply/";
  for (const std::string& name : names_in(folder)) {
    const std::string supply = folder + name;
    // Batteries of mice and headsets say "Device".
    if (Text({supply, "/scope"}).view() == "Device") continue;
    const Text type({supply, "/type"});
    if (type.view().empty()) continue;
    supplies_.push_back(
        {type.view() == "Battery", supply + "/online", supply + "/capacity", supply + "/status"});
  }
}

void Board::find_gpu(const std::string& root) {
  // The first file that is there counts.
  const auto add_load = [this](TextPieces file, LoadUnit unit) {
    if (gpu_load_.file.empty() && sysfs::exists(file)) gpu_load_ = {joined(file), unit};
  };
  const auto add_clock = [this](const std::string& folder, const char* current,
                                const char* maximum) {
    if (!gpu_clock_.current.empty() || !sysfs::exists({folder, current})) return;
    gpu_clock_ = {folder + current, folder + maximum, 1};
  };
  const std::string kgsl = root + "/class/kgsl/kgsl-3d0";
  add_load({kgsl, "/gpubusy"}, LoadUnit::busy_and_total);
  add_load({kgsl, "/gpu_busy_percentage"}, LoadUnit::percent);
  add_clock(kgsl, "/gpuclk", "/max_gpuclk");
  add_clock(kgsl, "/devfreq/cur_freq", "/devfreq/max_freq");
  for (const char* jetson : {"/devices/gpu.0/load", "/devices/platform/gpu.0/load",
                             "/devices/platform/bus@0/17000000.gpu/load"}) {
    add_load({root, jetson}, LoadUnit::permille);
  }
  const std::string devfreq = root + "/class/devfreq/";
  for (const std::string& name : names_in(devfreq)) {
    if (!is_gpu(name)) continue;
    const std::string gpu = devfreq + name;
    add_load({gpu, "/device/load"}, LoadUnit::permille);  // Jetson
    add_load({gpu, "/load"}, LoadUnit::percent);          // Rockchip: "45@800000000Hz"
    add_load({gpu, "/device/utilization"}, LoadUnit::percent);
    add_load({gpu, "/device/utilisation"}, LoadUnit::percent);
    add_clock(gpu, "/cur_freq", "/max_freq");
  }
  for (const char* other :
       {"/class/misc/mali0/device/utilization", "/class/misc/mali0/device/utilisation",
        "/kernel/gpu/gpu_busy", "/class/drm/card0/device/gpu_busy_percent"}) {
    add_load({root, other}, LoadUnit::percent);
  }
}

void Board::find_cpu(const std::string& root) {
  constexpr std::uint64_t kKiloHertz = 1000;
  const std::string folder = root + "/devices/system/cpu/";
  std::vector<std::string> clusters;
  for (const std::string& name : names_in(folder + "cpufreq", "policy")) {
    clusters.push_back(joined({folder, "cpufreq/", name}));
  }
  if (clusters.empty()) clusters.push_back(folder + "cpu0/cpufreq");
  std::uint64_t fastest = 0;
  for (const std::string& cluster : clusters) {
    const std::string maximum = cluster + "/cpuinfo_max_freq";
    const std::uint64_t hertz = read_clock(maximum, kKiloHertz).value_or(0);
    if (hertz <= fastest) continue;
    fastest = hertz;
    cpu_clock_ = {cluster + "/scaling_cur_freq", maximum, kKiloHertz};
  }
}

void Board::find_rails(const std::string& root) {
  const std::string folder = root + "/class/hwmon/";
  for (const std::string& name : names_in(folder, "hwmon")) {
    const std::string chip = folder + name;
    if (Text({chip, "/name"}).view().substr(0, 3) != "ina") continue;
    for (int i = 1; i <= kMaxRailsPerChip; ++i) {
      RailFiles files{joined({chip, "/power", i, "_input"}), joined({chip, "/in", i, "_input"}),
                      joined({chip, "/curr", i, "_input"})};
      if (!sysfs::exists(files.power_uw)) {
        files.power_uw.clear();
        if (!sysfs::exists(files.voltage_mv) || !sysfs::exists(files.current_ma)) continue;
      }
      const Text label({chip, "/in", i, "_label"});
      if (label.view() == "NC") continue;  // not connected
      std::string rail(label.view());
      if (rail.empty()) rail = joined({name, "/", i});
      if (rail == "VDD_IN" || rail == "POM_5V_IN") input_rail_ = rails_.size();
      rails_.push_back({std::move(rail), std::nullopt});
      rail_files_.push_back(std::move(files));
    }
  }
}

BoardState Board::read() {
  BoardState state;
  read_zones(state);
  read_supplies(state);
  read_rails(state);
  state.gpu_load = read_load(gpu_load_);
  state.gpu_clock_hz = read_clock(gpu_clock_.current, gpu_clock_.unit_hz);
  state.gpu_max_clock_hz = read_clock(gpu_clock_.maximum, gpu_clock_.unit_hz);
  state.cpu_clock_hz = read_clock(cpu_clock_.current, cpu_clock_.unit_hz);
  state.cpu_max_clock_hz = read_clock(cpu_clock_.maximum, cpu_clock_.unit_hz);
  return state;
}

void Board::read_zones(BoardState& state) {
  for (std::size_t i = 0; i < zones_.size(); ++i) {
    ThermalZone& zone = zones_[i];
    zone.temperature_c = read_celsius(zone_files_[i].temperature, zone_files_[i].units_per_degree);
    if (!zone.temperature_c) continue;
    const double celsius = *zone.temperature_c;
    state.temperature_c = std::max(state.temperature_c.value_or(celsius), celsius);
    if (!zone.trip_c) continue;
    const double margin = *zone.trip_c - celsius;
    state.thermal_margin_c = std::min(state.thermal_margin_c.value_or(margin), margin);
  }
}

void Board::read_supplies(BoardState& state) const {
  bool discharging = false;
  std::optional<bool> plugged;
  std::optional<bool> fed;  // what batteries let conclude where no supply says whether it is online
  for (const Supply& supply : supplies_) {
    if (!supply.battery) {
      const auto online = read_integer(supply.online);
      if (online) plugged = plugged.value_or(false) || *online > 0;
      continue;
    }
    const auto percent = read_integer(supply.capacity);
    if (percent && *percent >= 0 && *percent <= 100) {
      const double charge = static_cast<double>(*percent) / 100;
      state.battery = std::min(state.battery.value_or(charge), charge);
    }
    const Text status(supply.status);
    if (status.view() == "Discharging") discharging = true;
    if (status.view() == "Charging" || status.view() == "Full") fed = true;
  }
  // A charger that cannot keep up is no mains.
  state.on_mains = discharging ? std::optional<bool>(false) : plugged ? plugged : fed;
}

void Board::read_rails(BoardState& state) {
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    const RailFiles& files = rail_files_[i];
    std::optional<double> watts;
    if (!files.power_uw.empty()) {
      const auto microwatts = read_integer(files.power_uw);
      if (microwatts) watts = static_cast<double>(*microwatts) / 1e6;
    } else {
      const auto millivolts = read_integer(files.voltage_mv);
      const auto milliamperes = read_integer(files.current_ma);
      if (millivolts && milliamperes) {
        watts = static_cast<double>(*millivolts) * static_cast<double>(*milliamperes) / 1e6;
      }
    }
    if (watts && (*watts < -1 || *watts > kMaxPlausibleWatts)) watts.reset();
    if (watts) watts = std::max(*watts, 0.0);  // offset of an idle rail
    rails_[i].power_w = watts;
    if (watts && !input_rail_) state.power_w = state.power_w.value_or(0) + *watts;
  }
  if (input_rail_) state.power_w = rails_[*input_rail_].power_w;
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

std::optional<std::uint64_t> Board::read_clock(const std::string& file, std::uint64_t unit_hz) {
  constexpr std::int64_t kMaxPlausible = 100'000'000'000;  // 100 GHz
  if (file.empty()) return std::nullopt;
  const auto value = read_integer(file);
  if (!value || *value <= 0 || *value > kMaxPlausible) return std::nullopt;
  return static_cast<std::uint64_t>(*value) * unit_hz;
}

}  // namespace idletune
