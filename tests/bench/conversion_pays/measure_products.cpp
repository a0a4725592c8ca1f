#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>

#include <idletune/opencl.hpp>

#include "kernels/krylov/device_matrix.hpp"
#include "kernels/krylov/product_check.hpp"
#include "kernels/krylov/product_choice.hpp"
#include "kernels/krylov/sparse_matrix.hpp"
#include "models/core/median.hpp"
#include "tests/bench/conversion_pays/product_times_table.hpp"
#include "tests/bench/krylov_contest/systems.hpp"
#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

using krylov::DeviceKernels;
using krylov::DeviceMatrix;
using krylov::KernelVariant;
using krylov::SparseFormat;
using krylov::SparseMatrix;

constexpr std::uint64_t kLimitBytes = std::uint64_t{256} << 20;
constexpr int kRounds = 3;       // over all formats and kernels
constexpr double kHopeless = 5;  // times the fastest of the first round: not run again
constexpr int kLeastRuns = 3;    // of a kernel in one round
constexpr int kMostRuns = 9;
constexpr double kEnoughUs = 3000;

class Watch {
 public:
  double us() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Every kernel and work group that a choice may try in this format.
std::vector<KernelVariant> tried_in(SparseFormat format) {
  krylov::SolverOptions options;
  options.choosing = krylov::Choosing::always;
  options.fixed_format = true;
  options.format = format;
  const krylov::ModelChoice none;
  krylov::ProductChoice choice(options, none);
  choice.begins_in(format, 0, "");
  std::vector<KernelVariant> tried;
  while (choice.race().running()) {
    const KernelVariant now = choice.race().current();
    const bool again = std::any_of(tried.begin(), tried.end(), [&](const KernelVariant& each) {
      return krylov::same(each, now);  // the best of them run once more
    });
    if (!again) tried.push_back(now);
    choice.took(1);
    choice.look_ahead({});
  }
  return tried;
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
    form_ = std::make_unique<DeviceMatrix>(queue_, std::move(*stored), 8);
    require(form_->upload(matrix_.values));
    return watch.us();
  }
  double multiply(DeviceKernels& kernels, KernelVariant variant) {
    const Watch watch;
    require(form_->multiply(kernels, variant, *x_, *y_));
    require(queue_.wait());
    return watch.us();
  }
  // The median of a few.
  double typical(DeviceKernels& kernels, KernelVariant variant) {
    std::vector<double> times;
    multiply(kernels, variant);
    for (double sum = 0; times.size() < kLeastRuns || (times.size() < kMostRuns && sum < kEnoughUs);
         sum += times.back())
      times.push_back(multiply(kernels, variant));
    return median_of(std::move(times));
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
  std::unique_ptr<DeviceMatrix> form_;
};

// What the first product takes longer than later ones, of each kernel, in microseconds.
std::vector<double> first_runs(const std::string& folder, std::vector<TimedKernel>& kernels) {
  opencl::OpenOptions options;
  options.cache_folder = folder;
  const auto device = required(opencl::open(0, options));
  const auto queue = required(opencl::application_queue(*device));
  const SparseMatrix small = grid(32).matrix;
  Subject subject(*queue, small);
  subject.put(SparseFormat::csr);
  DeviceKernels compiled(*device, krylov::Precision::f64);
  subject.multiply(compiled, {0, 48, 0});  // what a driver does once only is no program's
  kernels.clear();
  std::vector<double> all;
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    const auto format = static_cast<SparseFormat>(i);
    subject.put(format);
    for (const KernelVariant& variant : tried_in(format)) {
      const double first = subject.multiply(compiled, variant);
      all.push_back(std::max(0.0, first - subject.typical(compiled, variant)));
      kernels.push_back({format, variant, 0, 0, 0});
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
  const std::vector<double> warm = first_runs(folder, kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].cold_us = cold[i];
    kernels[i].warm_us = warm[i];
  }
  std::filesystem::remove_all(folder);
  return kernels;
}

TimedMatrix timed(const std::string& name, DeviceKernels& kernels, ApplicationQueue& queue) {
  const bool made = name.rfind("grid:", 0) == 0;
  const System system = made ? grid(std::stoi(name.substr(5))) : from_file(name);
  const SparseMatrix& matrix = system.matrix;
  TimedMatrix result;
  result.name = made ? name : system.name;
  result.rows = matrix.pattern.rows;
  result.entries = matrix.values.size();
  const Watch sizing;
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i)
    result.formats[i].bytes = stored_bytes(matrix.pattern, static_cast<SparseFormat>(i), 8);
  result.sizes_us = sizing.us();
  Subject subject(queue, matrix);
  double fastest = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
      const auto format = static_cast<SparseFormat>(i);
      const double put = subject.put(format);
      double& least = result.formats[i].put_us;
      least = round == 0 ? put : std::min(least, put);
      if (put == 0) continue;
      for (const KernelVariant& variant : tried_in(format)) {
        if (round == 0) result.products.push_back({format, variant, HUGE_VAL, 0, 0});
        double& us = result.products[at++].us;
        if (round > 0 && us > kHopeless * fastest) continue;
        us = std::min(us, subject.typical(kernels, variant));
        fastest = fastest > 0 ? std::min(fastest, us) : us;
      }
      if (i == 0) result.check_us = subject.check();
    }
  }
  return result;
}

}  // namespace

void record_products(const std::vector<std::string>& matrices) {
  for (const TimedKernel& program : programs()) print_program(program);
  const auto device = required(opencl::open(0));
  const auto queue = required(opencl::application_queue(*device));
  DeviceKernels kernels(*device, krylov::Precision::f64);
  for (const std::string& name : matrices) print_matrix(timed(name, kernels, *queue));
}

}  // namespace idletune::bench
