// What the board says about itself: heat, power supply, GPU load, clocks, power rails. Read from
// sysfs below a root that tests can replace. Every value is optional: a board that lacks a sensor,
// or whose sensor answers garbage, leaves it empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/span.hpp>

namespace idletune {

// One thermal zone and its latest reading.
struct ThermalZone {
  std::string type;              // as the kernel names it: "GPU-therm", "gpu-thermal", ...
  std::optional<double> trip_c;  // lowest passive trip; the lowest hot or critical one if none
  std::optional<double> temperature_c;  // empty while the sensor does not answer
};

// One measured supply rail and its latest reading.
struct PowerRail {
  std::string name;
  std::optional<double> power_w;
};

// A plain value; copying it costs no allocation.
struct BoardState {
  std::optional<double> temperature_c;  // of the hottest zone
  std::optional<double>
      thermal_margin_c;            // smallest distance of a zone to its trip; < 0: beyond it
  std::optional<bool> on_mains;    // external power; empty where no supply is listed
  std::optional<double> battery;   // charge, 0..1
  std::optional<double> gpu_load;  // 0..1
  std::optional<std::uint64_t> gpu_clock_hz;
  std::optional<std::uint64_t> gpu_max_clock_hz;
  std::optional<std::uint64_t> cpu_clock_hz;  // of the CPU cluster with the highest maximum
  std::optional<std::uint64_t> cpu_max_clock_hz;
  std::optional<double> power_w;  // whole board: its input rail if it has one, else the rails' sum
};

// The sensors found when it was opened. Used by one thread at a time.
class Board {
 public:
  // Looks for sensors below `sysfs_root` (no trailing slash). Never fails: without any, `read`
  // answers an empty state. Allocates; takes some milliseconds on real boards.
  static Board open(const std::string& sysfs_root = "/sys");

  // Reads every sensor once: about one open/read/close per file, no allocation. Files that have
  // vanished or hold garbage leave their value empty; they are tried again at the next call.
  BoardState read();

  // The zones and rails behind the state, as of the latest `read`.
  Span<const ThermalZone> thermal_zones() const { return zones_; }
  Span<const PowerRail> power_rails() const { return rails_; }

 private:
  struct ZoneFile {
    std::string temperature;
    std::int64_t units_per_degree;
  };
  struct RailFiles {
    std::string power_uw;                // either this
    std::string voltage_mv, current_ma;  // or these two
  };
  struct Supply {
    bool battery = false;
    std::string online, capacity, status;
  };
  enum class LoadUnit : std::uint8_t { percent, permille, busy_and_total };
  struct Load {
    std::string file;
    LoadUnit unit = LoadUnit::percent;
  };
  struct Clock {
    std::string current, maximum;
    std::uint64_t unit_hz = 1;
  };

  void find_zones(const std::string& root);
  void find_supplies(const std::string& root);
  void find_gpu(const std::string& root);
  void find_cpu(const std::string& root);
  void find_rails(const std::string& root);
  void read_zones(BoardState& state);
  void read_supplies(BoardState& state) const;
  void read_rails(BoardState& state);
  static std::optional<double> read_load(const Load& load);
  static std::optional<std::uint64_t> read_clock(const std::string& file, std::uint64_t unit_hz);

  std::vector<ThermalZone> zones_;
  std::vector<ZoneFile> zone_files_;  // parallel to zones_
  std::vector<PowerRail> rails_;
  std::vector<RailFiles> rail_files_;  // parallel to rails_
  std::optional<std::size_t> input_rail_;
  std::vector<Supply> supplies_;
  Load gpu_load_;
  Clock gpu_clock_;
  Clock cpu_clock_;
};

// When tuning must wait for the board. A limit is not applied where its sensor is missing.
struct BoardLimits {
  double min_battery = 0;           // 0..1; while not on mains
  double max_gpu_load = 1;          // 0..1; load of others: ask while the tuner itself is idle
  double min_thermal_margin_c = 5;  // distance to the nearest trip
  bool require_mains = false;
};

// Why tuning must not run now ("board too hot", ...; a literal), or nothing if it may. Pure.
std::optional<std::string_view> blocks_tuning(const BoardState& state, const BoardLimits& limits);

}  // namespace idletune
