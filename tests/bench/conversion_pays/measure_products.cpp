#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>

#include <idletune/opencl.hpp>

#include "agent/host/cli/matrix_description.hpp"
#include "agent/host/cli/sparse_families.hpp"
#include "agent/host/cli/sparse_problem.hpp"
#include "kernels/krylov/device_matrix.hpp"
#include "kernels/krylov/product_check.hpp"
#include "kernels/krylov/product_choice.hpp"
#include "kernels/krylov/sparse_matrix.hpp"
#include "models/core/median.hpp"
#include "models/core/random.hpp"
#include "platform/os/storage.hpp"
#include "tests/bench/conversion_pays/product_times_table.hpp"
#include "tests/bench/quartiles.hpp"
#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

using krylov::DeviceKernels;
using krylov::DeviceMatrix;
using krylov::KernelVariant;
using krylov::SparseFormat;
using krylov::SparseMatrix;

constexpr std::uint64_t kLimitBytes = std::uint64_t{256} << 20;
constexpr int kRepeats = 5;        // of what the host does
constexpr int kTurns = 8;          // of each kernel, over all of them
constexpr double kHopeless = 3;    // times the fastest: takes no turns
constexpr double kFarOff = 20;     // times the fastest: a format's other kernels are not run
constexpr int kLeastRuns = 3;      // of a plain kernel, at first
constexpr int kRuns = 5;           // at first
constexpr double kRunsUs = 15000;  // that they begin in

constexpr double kTurnUs = 300;  // of products in a row
constexpr int kMostInARow = 16;
constexpr int kMostRepeats = 4;
constexpr double kLower = 0.25;     // of the turns: what disturbs makes them slower only
constexpr double kLeastRows = 300;  // of drawn matrices
constexpr double kMostOverLeast = 70;
constexpr int kOfPrograms = 9;  // products, for what a first one takes longer

class Watch {
 public:
  double us() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Every kernel and work group that a format's package has, the one that solvers begin with first.
std::vector<KernelVariant> all_of(SparseFormat format) {
  std::vector<KernelVariant> all = {KernelVariant()};
  const bool rows = format == SparseFormat::csr;
  for (std::int32_t kind = 0; kind <= (rows ? 32 : 1); kind = kind < 2 ? kind + 1 : 2 * kind) {
    for (std::int32_t group = std::max(16, kind); group <= 512; group *= 2) {
      if (!krylov::same({kind, group, 0}, all.front())) all.push_back({kind, group, 0});
    }
  }
  return all;
}

SparseMatrix matrix_of(const std::string& name) {
  SparseMatrix matrix;
  if (cli::names_sparse_family(name)) {
    matrix.pattern = required(cli::generated_pattern(name));
  } else {
    const auto bytes = required(read_file(name, std::size_t{1} << 30));
    matrix.pattern = std::move(required(cli::read_matrix(bytes, name)).matrix.pattern);
  }
  Random random(1);
  matrix.values.resize(matrix.pattern.entries());
  for (double& value : matrix.values) value = 2 * random.uniform() - 1;
  return matrix;
}

long disturbances() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// A matrix on the device, with vectors for its products.
class Subject {
 public:
  Subject(ApplicationQueue& queue, const SparseMatrix& matrix) : queue_(queue), matrix_(matrix) {
    x_ = required(queue.allocate(8 * static_cast<std::size_t>(matrix.pattern.columns)));
    y_ = required(queue.allocate(8 * static_cast<std::size_t>(matrix.pattern.rows)));
    const std::vector<double> ones(static_cast<std::size_t>(matrix.pattern.columns), 1.0);
    require(
        queue.write(*x_, 0, {reinterpret_cast<const std::uint8_t*>(ones.data()), 8 * ones.size()}));
  }
  // Microseconds; 0: the format has no room.
  double put(SparseFormat format) {
    const Watch watch;
    auto stored = krylov::convert(matrix_.pattern, format, 8, kLimitBytes);
    if (!stored.ok()) return 0;
    auto& form = forms_[static_cast<std::size_t>(format)];
    form = std::make_unique<DeviceMatrix>(queue_, std::move(*stored), 8);
    require(form->upload(matrix_.values));
    return watch.us();
  }
  // Of one product, of so many.
  double multiply(DeviceKernels& kernels, const TimedKernel& kernel, int count) {
    DeviceMatrix& form = *forms_[static_cast<std::size_t>(kernel.format)];
    const Watch watch;
    for (int i = 0; i < count; ++i) require(form.multiply(kernels, kernel.variant, *x_, *y_));
    require(queue_.wait());
    return watch.us() / count;
  }
  // The same, again where another process took a core meanwhile.
  double undisturbed(DeviceKernels& kernels, const TimedKernel& kernel, int count) {
    double least = HUGE_VAL;
    for (int i = 0; i < kMostRepeats; ++i) {
      const long before = disturbances();
      least = std::min(least, multiply(kernels, kernel, count));
      if (disturbances() == before) break;
    }
    return least;
  }
  double check() {
    const Watch watch;
    std::vector<double> x(static_cast<std::size_t>(matrix_.pattern.columns));
    std::vector<double> y(static_cast<std::size_t>(matrix_.pattern.rows));
    require(krylov::read_numbers(queue_, *x_, 8, x));
    require(krylov::read_numbers(queue_, *y_, 8, y));
    if (!krylov::is_product(matrix_, x, y, true)) throw std::runtime_error("a wrong product");
    return watch.us();
  }

 private:
  ApplicationQueue& queue_;
  const SparseMatrix& matrix_;
  std::unique_ptr<Buffer> x_, y_;
  std::unique_ptr<DeviceMatrix> forms_[krylov::kSparseFormats];
};

// What the first product takes longer than later ones, of each kernel, in microseconds.
std::vector<double> first_runs(const std::string& folder, std::vector<TimedKernel>& kernels) {
  opencl::OpenOptions options;
  options.cache_folder = folder;
  const auto device = required(opencl::open(0, options));
  const auto queue = required(opencl::application_queue(*device));
  const SparseMatrix small = matrix_of("5-point:1024");
  Subject subject(*queue, small);
  subject.put(SparseFormat::csr);
  DeviceKernels compiled(*device, krylov::Precision::f64);
  // What a driver does once only is no program's.
  subject.multiply(compiled, {SparseFormat::csr, {0, 48, 0}}, 1);
  kernels.clear();
  std::vector<double> all;
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    const auto format = static_cast<SparseFormat>(i);
    subject.put(format);
    for (const KernelVariant& variant : all_of(format)) {
      kernels.push_back({format, variant});
      const double first = subject.multiply(compiled, kernels.back(), 1);
      std::vector<double> later(kOfPrograms);
      for (double& us : later) us = subject.multiply(compiled, kernels.back(), 1);
      all.push_back(std::max(0.0, first - median_of(std::move(later))));
    }
  }
  return all;
}

// Cold: the driver compiles. Warm: another opened device finds what the first has kept.
std::vector<TimedKernel> programs() {
  char folder[] = "/tmp/conversion_pays.XXXXXX";
  if (mkdtemp(folder) == nullptr) throw std::runtime_error("no temporary folder");
  std::vector<TimedKernel> kernels;
  const std::vector<double> cold = first_runs(folder, kernels);
  std::vector<double> warm = first_runs(folder, kernels);
  // Finding one takes the same whichever it is: they differ by noise.
  const double found = median_of(std::move(warm));
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].cold_us = cold[i];
    kernels[i].warm_us = found;
  }
  std::filesystem::remove_all(folder);
  return kernels;
}

template <class Work>
double usual_us(const Work& work) {
  std::vector<double> all;
  for (int i = 0; i < kRepeats; ++i) all.push_back(work());
  return quantile(std::move(all), kLower);
}

struct Turns {
  double once = 0;  // one product
  int in_a_row = 1;
  std::vector<double> us[2];  // of even turns, and of odd ones
};

// The first of each kernel: code is generated, which is not counted.
std::vector<Turns> first_turns(Subject& subject, DeviceKernels& kernels, TimedMatrix& result) {
  std::vector<Turns> all;
  double fastest = 0;
  double fastest_of_format = 0;
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    const auto format = static_cast<SparseFormat>(i);
    if (result.formats[i].put_us == 0) continue;
    for (const KernelVariant& variant : all_of(format)) {
      const bool first = variant.kind == 0 && variant.work_group == KernelVariant().work_group;
      result.products.push_back({format, variant});
      all.emplace_back();
      double once = fastest_of_format;
      if (first || fastest_of_format < kFarOff * fastest) {
        subject.multiply(kernels, result.products.back(), 1);
        once = HUGE_VAL;
        const Watch watch;
        const int least = variant.kind == 0 ? kLeastRuns : 1;
        for (int run = 0; run < least || (run < kRuns && watch.us() < kRunsUs); ++run)
          once = std::min(once, subject.multiply(kernels, result.products.back(), 1));
        fastest_of_format = first ? once : std::min(once, fastest_of_format);
        fastest = fastest > 0 ? std::min(once, fastest) : once;
      }
      all.back().once = once;
      all.back().in_a_row = std::clamp(static_cast<int>(kTurnUs / once), 1, kMostInARow);
    }
    if (i == 0) result.check_us = usual_us([&] { return subject.check(); });
  }
  return all;
}

void take_turns(Subject& subject, DeviceKernels& kernels, TimedMatrix& result) {
  std::vector<Turns> all = first_turns(subject, kernels, result);
  double fastest = HUGE_VAL;
  for (const Turns& turns : all) fastest = std::min(fastest, turns.once);
  const std::size_t count = all.size();
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t at = (k + 17 * turn) % count;
      Turns& turns = all[at];
      const bool hopeless = at > 0 && turns.once > kHopeless * fastest;  // CSR's never
      turns.us[turn % 2].push_back(
          hopeless ? turns.once
                   : subject.undisturbed(kernels, result.products[at], turns.in_a_row));
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    result.products[k].us = quantile(all[k].us[0], kLower);
    result.products[k].other_us = quantile(all[k].us[1], kLower);
  }
}

TimedMatrix timed(const std::string& name, DeviceKernels& kernels, ApplicationQueue& queue) {
  const SparseMatrix matrix = matrix_of(name);
  TimedMatrix result;
  result.name = cli::sparse_problem_name(name);
  result.rows = matrix.pattern.rows;
  result.entries = matrix.values.size();
  result.sizes_us = usual_us([&] {
    const Watch watch;
    for (std::size_t i = 0; i < krylov::kSparseFormats; ++i)
      result.formats[i].bytes = stored_bytes(matrix.pattern, static_cast<SparseFormat>(i), 8);
    return watch.us();
  });
  Subject subject(queue, matrix);
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i)
    result.formats[i].put_us = usual_us([&] { return subject.put(static_cast<SparseFormat>(i)); });
  take_turns(subject, kernels, result);
  return result;
}

}  // namespace

void record_products(const std::vector<std::string>& matrices) {
  for (const TimedKernel& program : programs()) print_program(program);
  const auto device = required(opencl::open(0));
  const auto queue = required(opencl::application_queue(*device));
  DeviceKernels kernels(*device, krylov::Precision::f64);
  for (const std::string& text : matrices) {
    for (const std::string& name : required(cli::sparse_problems_of(text)))
      print_matrix(timed(name, kernels, *queue));
  }
}

std::vector<std::string> drawn_matrices(std::size_t count, std::uint64_t seed) {
  const auto& families = cli::sparse_family_names();
  Random random(seed);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    const auto rows = static_cast<int>(kLeastRows * std::pow(kMostOverLeast, random.uniform()));
    names.push_back(std::string(families[i % families.size()]) + ":" + std::to_string(rows) + ":" +
                    std::to_string(random.below(1000000)));
  }
  return names;
}

}  // namespace idletune::bench
