// Boards on which a kernel's configurations take the times that whole histories have, under played
// time, so that a day takes a second; and what their journals bring home.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/host/history/history.hpp"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/journal/faulty_storage.hpp"

namespace idletune::test {

// A kernel that was measured whole on several devices, on some of them more than once.
struct FleetKernel {
  struct MeasuredDevice {
    std::string name;
    std::vector<History> runs;
  };
  // A file that `import` reads: a further device, or a further run of the last one. As the files'
  // units differ, the best time of each becomes kBestTime.
  void add(const std::string& path, const std::string& device);
  // Once all are there.
  void pack();
  static constexpr Nanoseconds kBestTime = std::chrono::milliseconds(2);

  std::string name;
  std::vector<std::string> constraints;
  std::vector<MeasuredDevice> devices;
  std::vector<std::uint8_t> package;
};

// What an application does all day: each ten seconds some launches, then a gap.
struct FleetHours {
  int frames = 8640;
  int launches = 25;
  Nanoseconds gap = std::chrono::seconds(2);
};

// One day; times of launches over the best, in the mean, and relative performances.
struct FleetDay {
  double first = 0;  // of what runs after prepare()
  double hour = 0;   // times in the first hour
  double day = 0;    // and all day
  std::uint64_t evaluated = 0;
};

// Launches and measurements are disturbed as recorded_noise() says.
class FleetBoard {
 public:
  FleetBoard(const FleetKernel& kernel, const History& times, std::uint64_t identity);
  FleetBoard(const FleetBoard&) = delete;
  FleetBoard& operator=(const FleetBoard&) = delete;
  ~FleetBoard();

  FleetDay play(const std::string& model, const FleetHours& hours);
  // What its journal has, as import makes it.
  std::vector<History> brought_home() const;

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace idletune::test
