#include "agent/lab/history_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "models/insight/fractions.hpp"

namespace idletune {

namespace {

Nanoseconds at_least_one(double ns) {
  return Nanoseconds(std::max<std::int64_t>(1, std::llround(ns)));
}

}  // namespace

Result<replay::MemoryTable> table_of(const History& history) {
  DeviceInfo device;
  device.backend = "replay";
  device.platform = "history";
  device.name = history.device;
  device.driver = history.driver;
  replay::MemoryTable table(device, history.parameter_names());
  const double usual_compile_ns = distribution_of(history).median_compile_ns;
  const std::vector<std::size_t> offsets = history.sample_offsets();
  for (std::size_t row = 0; row < history.rows(); ++row) {
    std::vector<Nanoseconds> samples;
    for (std::size_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      samples.push_back(at_least_one(history.samples[i] * history.nanoseconds_per_unit));
    }
    if (samples.empty() && history.correct(row))
      samples.push_back(at_least_one(history.run_time_ns(row)));
    const double compile_ns =
        std::isfinite(history.compile_time[row]) ? history.compile_time_ns(row) : usual_compile_ns;
    const Status added = table.add(history.configuration(row), history.status[row],
                                   std::move(samples), Nanoseconds(std::llround(compile_ns)));
    if (!added.ok()) return added;
  }
  return table;
}

}  // namespace idletune
