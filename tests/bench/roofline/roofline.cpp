// How near the kernels of this repository come to their device's limits: the best configuration of
// a history, the kernel's default and the device's ceilings take turns on the first OpenCL device.
// The limit is the longer of two times: what has to cross the memory's interface at the bandwidth
// of a triad over buffers of the same size, and the operations of the formula at the throughput of
// independent fused multiply-adds (Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009).
// Exits with 1 where nothing could be measured; never because of a time.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <idletune/opencl.hpp>
#include <idletune/options.hpp>

#include "agent/trial/trial_executor.hpp"
#include "models/host/history/history.hpp"
#include "models/host/pack/pack.hpp"
#include "models/host/pack/work.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/storage.hpp"
#include "tests/bench/quartiles.hpp"
#include "tests/bench/required.hpp"
#include "tests/bench/roofline/ceilings.hpp"
#include "tests/paths.hpp"

namespace idletune::bench {
namespace {

constexpr std::size_t kMaxHistoryBytes = std::size_t{256} << 20;

std::shared_ptr<const KernelPackage> package_of(const std::string& kernel) {
  const std::string path =
      std::string(IDLETUNE_SOURCE_FOLDER "/kernels/") + kernel + "/" + kernel + ".xml";
  return required(KernelPackage::open(required(pack(required(read_kernel_xml(path)))), path));
}

// The row's configuration in the order of the package's space.
Configuration configuration_of(const History& history, std::size_t row, const Space& space) {
  const std::vector<std::string> names = history.parameter_names();
  const Configuration recorded = history.configuration(row);
  Configuration configuration;
  for (std::size_t p = 0; p < space.parameter_count(); ++p) {
    const auto name = std::find(names.begin(), names.end(), space.parameter_name(p));
    if (name == names.end()) {
      throw std::runtime_error("the history of " + history.kernel + " lacks parameter " +
                               std::string(space.parameter_name(p)));
    }
    configuration.push_back(recorded[static_cast<std::size_t>(name - names.begin())]);
  }
  if (space.contains(configuration)) return configuration;
  throw std::runtime_error("the best configuration of the history of " + history.kernel +
                           " is not in the kernel's space");
}

std::size_t best_row(const History& history) {
  std::size_t best = history.rows();
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (!history.correct(row)) continue;
    if (best == history.rows() || history.run_time[row] < history.run_time[best]) best = row;
  }
  if (best == history.rows()) throw std::runtime_error("no correct row of " + history.kernel);
  return best;
}

struct Row {
  std::string kernel;
  std::string shape;
  Quartiles default_ns, best_ns;
  double bytes = 0;       // compulsory
  double operations = 0;  // negative: not known
  double bandwidth = 0;   // ceilings, per ns
  double throughput = 0;
  double memory_ns() const { return bytes / bandwidth; }
  double arithmetic_ns() const { return operations > 0 ? operations / throughput : 0; }
  double limit_ns() const { return std::max(memory_ns(), arithmetic_ns()); }
};

// Configurations of one kernel at one shape, each checked before it is timed.
class Runner {
 public:
  Runner(Device& device, std::shared_ptr<const KernelPackage> package, const Shape& shape)
      : executor_(device, std::move(package)), shape_(shape) {}

  // Throws unless the configuration computes what the reference does.
  void check(const Configuration& configuration) { (void)run(TrialStage::check, configuration); }
  double time_ns(const Configuration& configuration) {
    const TrialOutcome outcome = run(TrialStage::measure, configuration);
    return static_cast<double>(outcome.samples.front().count());
  }

 private:
  TrialOutcome run(TrialStage stage, const Configuration& configuration) {
    TrialRequest request;
    request.stage = stage;
    request.shape = shape_;
    request.configuration = configuration;
    const TrialOutcome outcome = executor_.run(request);
    if (outcome.status != TrialStatus::correct) throw std::runtime_error(outcome.message);
    return outcome;
  }
  TrialExecutor executor_;
  Shape shape_;
};

std::string text_of(const Shape& shape) {
  std::string text;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? "x" : "") + std::to_string(shape[i]);
  }
  return text;
}

Row measure(Device& device, const History& history, int rounds) {
  const auto package = package_of(history.kernel);
  const Configuration fallback = package->default_configuration();
  const Configuration best = configuration_of(history, best_row(history), package->space());
  Row row;
  row.kernel = history.kernel;
  row.shape = text_of(history.shape);
  const KernelWork work = required(work_of(*package, history.shape, best));
  row.bytes = work.compulsory_bytes;
  row.operations = work.operations.value_or(-1);
  Ceilings ceilings(device, work.footprint_bytes);
  Runner runner(device, package, history.shape);
  runner.check(fallback);
  runner.check(best);
  std::vector<double> default_ns, best_ns;
  for (int round = 0; round < rounds; ++round) {
    ceilings.measure();
    const bool default_first = round % 2 == 0;
    if (default_first) default_ns.push_back(runner.time_ns(fallback));
    best_ns.push_back(runner.time_ns(best));
    if (!default_first) default_ns.push_back(runner.time_ns(fallback));
  }
  row.default_ns = quartiles(default_ns);
  row.best_ns = quartiles(best_ns);
  row.bandwidth = ceilings.bandwidth();
  row.throughput = ceilings.throughput();
  return row;
}

void print(const Row& row) {
  const char* limit = row.arithmetic_ns() > row.memory_ns() ? "arithmetic" : "memory";
  std::printf("| %s | %s | %.3f | %.3f [%.3f .. %.3f] | %.2f | %.1f | ", row.kernel.c_str(),
              row.shape.c_str(), row.default_ns.median * 1e-6, row.best_ns.median * 1e-6,
              row.best_ns.low * 1e-6, row.best_ns.high * 1e-6,
              row.default_ns.median / row.best_ns.median, row.bytes / row.best_ns.median);
  if (row.operations < 0) {
    std::printf("not counted | ");
  } else {
    std::printf("%.1f | ", row.operations / row.best_ns.median);
  }
  std::printf("%.1f | %.1f | %s | %.0f %% |\n", row.bandwidth, row.throughput, limit,
              100 * row.limit_ns() / row.best_ns.median);
  std::fflush(stdout);
}

int run(const std::vector<std::string>& paths, int rounds) {
  opencl::OpenOptions options;
  options.library = environment_opencl_library();
  const std::unique_ptr<Device> device = required(opencl::open(0, options));
  std::printf("On %s (%s), medians of %d rounds.\n\n", device->info().name.c_str(),
              device->info().driver.c_str(), rounds);
  std::printf(
      "| kernel | shape | default ms | best ms [quartiles] | default / best | GB/s | GFLOP/s | "
      "ceiling GB/s | ceiling GFLOP/s | limit | share of the limit |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|---|\n");
  int measured = 0;
  for (const std::string& path : paths) {
    try {
      const std::vector<std::uint8_t> bytes = required(read_file(path, kMaxHistoryBytes));
      print(measure(*device, required(read_history(bytes, path)), rounds));
      ++measured;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "roofline: %s: %s\n", path.c_str(), error.what());
    }
  }
  return measured > 0 ? 0 : 1;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  int rounds = 31;
  std::vector<std::string> paths;
  bool understood = true;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      rounds = std::atoi(argv[++i]);
    } else if (argv[i][0] != '-') {
      paths.emplace_back(argv[i]);
    } else {
      understood = false;
    }
  }
  if (!understood || paths.empty() || rounds < 1) {
    std::fprintf(stderr, "usage: roofline [--rounds N] HISTORY.ithistory...\n");
    return 2;
  }
  return idletune::bench::ended("roofline", [&] { return idletune::bench::run(paths, rounds); });
}
