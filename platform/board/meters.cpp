#include "platform/board/meters.hpp"

#include <idletune/text.hpp>

#include <algorithm>
#include <utility>

#include "platform/board/sysfs.hpp"

namespace idletune {
namespace {

using sysfs::names_in;
using sysfs::read_integer;
using sysfs::Text;

constexpr int kMaxRailsPerChip = 3;  // an INA3221's higher numbers are shunt voltages and sums
constexpr double kMaxPlausibleWatts = 10000;

}  // namespace

BoardMeters BoardMeters::open(const std::string& sysfs_root) {
  BoardMeters meters;
  meters.find_gpu(sysfs_root);
  meters.find_cpu(sysfs_root);
  meters.find_rails(sysfs_root);
  return meters;
}

MeterState BoardMeters::read() {
  MeterState state;
  read_rails(state);
  state.gpu_clock_hz = read_clock(gpu_clock_.current, gpu_clock_.unit_hz);
  state.gpu_max_clock_hz = read_clock(gpu_clock_.maximum, gpu_clock_.unit_hz);
  state.cpu_clock_hz = read_clock(cpu_clock_.current, cpu_clock_.unit_hz);
  state.cpu_max_clock_hz = read_clock(cpu_clock_.maximum, cpu_clock_.unit_hz);
  return state;
}

void BoardMeters::find_gpu(const std::string& root) {
  // The first that is there counts.
  const auto add_clock = [this](const std::string& folder, const char* current,
                                const char* maximum) {
    if (!gpu_clock_.current.empty() || !sysfs::exists(folder, current)) return;
    gpu_clock_ = {folder + current, folder + maximum, 1};
  };
  const std::string kgsl = root + "/class/kgsl/kgsl-3d0";
  add_clock(kgsl, "/gpuclk", "/max_gpuclk");
  add_clock(kgsl, "/devfreq/cur_freq", "/devfreq/max_freq");
  const std::string devfreq = root + "/class/devfreq/";
  for (const std::string& name : names_in(devfreq)) {
    if (sysfs::is_gpu(name)) add_clock(devfreq + name, "/cur_freq", "/max_freq");
  }
}

void BoardMeters::find_cpu(const std::string& root) {
  constexpr std::uint64_t kKiloHertz = 1000;
  const std::string folder = root + "/devices/system/cpu/";
  std::vector<std::string> clusters;
  for (const std::string& name : names_in(folder + "cpufreq", "policy")) {
    clusters.push_back(joined("%cpufreq/%", folder, name));
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

void BoardMeters::find_rails(const std::string& root) {
  const std::string folder = root + "/class/hwmon/";
  for (const std::string& name : names_in(folder, "hwmon")) {
    const std::string chip = folder + name;
    if (Text(chip, "/name").view().substr(0, 3) != "ina") continue;
    for (int i = 1; i <= kMaxRailsPerChip; ++i) {
      RailFiles files{joined("%/power%_input", chip, i), joined("%/in%_input", chip, i),
                      joined("%/curr%_input", chip, i)};
      if (!sysfs::exists(files.power_uw)) {
        files.power_uw.clear();
        if (!sysfs::exists(files.voltage_mv) || !sysfs::exists(files.current_ma)) continue;
      }
      const Text label(joined("%/in%_label", chip, i));
      if (label.view() == "NC") continue;  // not connected
      std::string rail(label.view());
      if (rail.empty()) rail = joined("%/%", name, i);
      if (rail == "VDD_IN" || rail == "POM_5V_IN") input_rail_ = rails_.size();
      rails_.push_back({std::move(rail), std::nullopt});
      rail_files_.push_back(std::move(files));
    }
  }
}

void BoardMeters::read_rails(MeterState& state) {
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

std::optional<std::uint64_t> BoardMeters::read_clock(const std::string& file,
                                                     std::uint64_t unit_hz) {
  constexpr std::int64_t kMaxPlausible = 100'000'000'000;  // 100 GHz
  if (file.empty()) return std::nullopt;
  const auto value = read_integer(file);
  if (!value || *value <= 0 || *value > kMaxPlausible) return std::nullopt;
  return static_cast<std::uint64_t>(*value) * unit_hz;
}

}  // namespace idletune
