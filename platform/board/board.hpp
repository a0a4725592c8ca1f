// What the board says about itself: heat, power supply, GPU load. Read from
// sysfs below a root that tests can replace. Every value is optional: a board that lacks a sensor,
// or whose sensor answers garbage, leaves it empty.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/span.hpp>

namespace idletune {

// One thermal zone and its latest reading.
struct ThermalZone {
  std::string type;  // as the kernel names it: "GPU-therm", "gpu-thermal", ...
  std::string file;  // that its temperature is read from
  std::int64_t units_per_degree = 1000;
  std::optional<double> trip_c;  // lowest passive trip; the lowest hot or critical one if none
  std::optional<double> temperature_c;  // empty while the sensor does not answer
};

// A plain value; copying it costs no allocation.
struct BoardState {
  std::optional<double> temperature_c;  // of the hottest zone
  std::optional<double>
      thermal_margin_c;            // smallest distance of a zone to its trip; < 0: beyond it
  std::optional<bool> on_mains;    // external power; empty where no supply is listed
  std::optional<double> battery;   // charge, 0..1
  std::optional<double> gpu_load;  // 0..1
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

  // The zones behind the state, as of the latest `read`.
  Span<const ThermalZone> thermal_zones() const { return zones_; }

 private:
  struct Supply {
    bool battery = false;
    std::string online, capacity, status;
  };
  enum class LoadUnit : std::uint8_t { percent, permille, busy_and_total };
  struct Load {
    std::string file;
    LoadUnit unit = LoadUnit::percent;
  };

  void find_zones(const std::string& root);
  void find_supplies(const std::string& root);
  void find_gpu(const std::string& root);
  void read_zones(BoardState& state);
  void read_supplies(BoardState& state) const;
  static std::optional<double> read_load(const Load& load);

  std::vector<ThermalZone> zones_;
  std::list<Supply> supplies_;
  Load gpu_load_;
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
