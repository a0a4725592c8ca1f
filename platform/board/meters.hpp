// What people like to see of a board beside what tuning depends on: clocks and power rails. Read
// from sysfs below a root that tests can replace; what is missing or garbage is left empty. Apart
// from board.hpp, so that applications do not carry it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <idletune/span.hpp>

namespace idletune {

// One measured supply rail and its latest reading.
struct PowerRail {
  std::string name;
  std::optional<double> power_w;
};

struct MeterState {
  std::optional<std::uint64_t> gpu_clock_hz;
  std::optional<std::uint64_t> gpu_max_clock_hz;
  std::optional<std::uint64_t> cpu_clock_hz;  // of the CPU cluster with the highest maximum
  std::optional<std::uint64_t> cpu_max_clock_hz;
  std::optional<double> power_w;  // whole board: its input rail if it has one, else the rails' sum
};

// The meters found when it was opened. Used by one thread at a time.
class BoardMeters {
 public:
  // Looks for meters below `sysfs_root` (no trailing slash). Never fails.
  static BoardMeters open(const std::string& sysfs_root = "/sys");

  // Reads every meter once.
  MeterState read();
  // The rails behind the state, as of the latest `read`.
  Span<const PowerRail> power_rails() const { return rails_; }

 private:
  struct RailFiles {
    std::string power_uw;                // either this
    std::string voltage_mv, current_ma;  // or these two
  };
  struct Clock {
    std::string current, maximum;
    std::uint64_t unit_hz = 1;
  };

  void find_gpu(const std::string& root);
  void find_cpu(const std::string& root);
  void find_rails(const std::string& root);
  void read_rails(MeterState& state);
  static std::optional<std::uint64_t> read_clock(const std::string& file, std::uint64_t unit_hz);

  std::vector<PowerRail> rails_;
  std::vector<RailFiles> rail_files_;  // parallel to rails_
  std::optional<std::size_t> input_rail_;
  Clock gpu_clock_;
  Clock cpu_clock_;
};

}  // namespace idletune
