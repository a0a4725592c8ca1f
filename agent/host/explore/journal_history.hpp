// What boards measured while they tuned, as histories. Host side.
#pragma once

#include <string>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "agent/journal/state.hpp"
#include "models/host/history/history.hpp"

namespace idletune::explore {

// Whether the bytes begin as a journal does.
bool is_journal(Bytes bytes);

// One history per kernel, device, driver and shape of a journal; `path` is for messages. Rows in
// the order of the board's clock. Of each: the median as run time, the compile time, and the extras
// `proposal` (how the search came to it: "first_pick", "portfolio", "random", "learned",
// "application"; "unknown" in rows of older agents), `setup_time` (where something is prepared
// once; not part of the run time), `time` (a failure's status) and `measured_at` (Unix seconds;
// absent where the board had no clock). `valid_count` is that of the space. Times in ns. Errors:
// those of reading a journal; unsupported if there are measurements, but none of a kernel that the
// journal has a name for (written by an agent that did not keep names yet; the next one adds them
// when it loads the kernel); invalid_argument if there are none at all.
Result<std::vector<History>> histories_of_journal(Bytes journal, const std::string& path);

// The names that a journal has for its digests. What it has none for is named by its digest.
struct KernelNames {
  std::string name;
  std::uint64_t valid_count = 0;  // 0: not known
  std::vector<std::string> dimensions;
  std::vector<std::string> parameters;
  // Of the problem's features: those that are given, then those that are computed, and how.
  struct Feature {
    std::string name, value, over;
  };
  std::vector<Feature> features;
  bool known = false;
};
KernelNames kernel_names(const journal::State& state, std::uint64_t digest);
struct DeviceNames {
  std::string name;
  std::string platform;
};
DeviceNames device_names(const journal::State& state, std::uint64_t digest);
// "M=64 mean_row=12.5", or "64" where the names are not known or do not fit.
std::string problem_text(const KernelNames& names, const Shape& problem);
// "MWG=64 NWG=32", or the bare values where the names are not known or do not fit.
std::string configuration_text(const KernelNames& names, const Configuration& configuration);

}  // namespace idletune::explore
