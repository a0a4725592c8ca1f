#include "tests/bench/tuning_loop/truth.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "agent/trial/compiled_variants.hpp"
#include "models/core/median.hpp"
#include "models/host/history/history.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/storage.hpp"
#include "tests/bench/required.hpp"
#include "tests/bench/tuning_loop/application.hpp"

namespace idletune::bench {
namespace {

constexpr std::size_t kRuns = 150;  // of each configuration
constexpr std::size_t kHistoryLimit = std::size_t{1} << 24;

// The fastest configurations of the history, and the one that is asked for in front.
std::vector<Configuration> contestants(const std::string& path, const Configuration& asked,
                                       std::size_t rows_at_most) {
  const History history = required(read_history(required(read_file(path, kHistoryLimit)), path));
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (history.correct(row)) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(),
            [&](auto a, auto b) { return history.run_time[a] < history.run_time[b]; });
  std::vector<Configuration> all{asked};
  for (std::size_t i = 0; i < std::min(rows_at_most, rows.size()); ++i) {
    all.push_back(history.configuration(rows[i]));
  }
  return all;
}

// Compiled, warm, on buffers of its own.
struct Contestant {
  std::unique_ptr<Program> program;
  Range range;
  std::vector<double> us;
};

}  // namespace

Comparison compare_with_best(Device& device, const std::string& history,
                             const Configuration& configuration, std::size_t rows) {
  const auto package = required(KernelPackage::open(blur_package(), "blur"));
  const std::vector<Configuration> configurations = contestants(history, configuration, rows);
  const auto in = required(device.allocate((kShape[0] + 4) * (kShape[1] + 4) * sizeof(float)));
  const auto out = required(device.allocate(kShape[0] * kShape[1] * sizeof(float)));
  const std::vector<std::uint8_t> zeros(in->size_bytes());
  require(device.write(*in, 0, zeros));
  std::vector<Contestant> all;
  for (const Configuration& each : configurations) {
    all.push_back({required(trial::compile_entry(device, *package, package->entry(), each, 1)),
                   required(package->plan(kShape, each)).first().range,
                   {}});
  }
  const Argument arguments[] = {static_cast<std::int32_t>(kShape[0]),
                                static_cast<std::int32_t>(kShape[1]), in->argument(),
                                out->argument()};
  for (std::size_t run = 0; run < kRuns; ++run) {
    for (Contestant& each : all) {
      const RunTimes times =
          required(device.run(*each.program, each.range, arguments, std::chrono::seconds(10)));
      if (run > 0) each.us.push_back(static_cast<double>(times.device.count()) / 1000);
    }
  }
  Comparison result;
  result.us = median_of(all[0].us);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double us = median_of(all[i].us);
    if (i > 0 && us >= result.best_us) continue;
    result.best_us = us;
    result.best = to_text(package->space(), configurations[i]);
  }
  return result;
}

}  // namespace idletune::bench
