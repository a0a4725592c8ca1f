// What is paid besides products where a solver chooses: the features of the matrix, what a learned
// model expects of all candidates (where --model names one that knows this device), new values of
// the same structure in each format, and a product's launch over the raw OpenCL calls that do the
// same, on an OpenCL library that does nothing. Exits with 1 where predicting or launching
// allocates on the heap; never because of a time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <idletune/opencl.hpp>

#include "kernels/krylov/device_matrix.hpp"
#include "kernels/krylov/features.hpp"
#include "kernels/krylov/model_choice.hpp"
#include "platform/opencl/loader.hpp"
#include "platform/os/storage.hpp"
#include "tests/bench/krylov_contest/systems.hpp"
#include "tests/bench/launch_cost/allocation_counter.hpp"
#include "tests/bench/quartiles.hpp"
#include "tests/bench/required.hpp"
#include "tests/paths.hpp"

namespace idletune::bench {
namespace {

using namespace krylov;

constexpr KernelVariant kKernel{0, 64};
constexpr std::uint64_t kLimit = std::uint64_t{256} << 20;
constexpr std::size_t kArguments = 7;  // of a product in CSR

template <class Work>
double median_us(int rounds, const Work& work) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    times.push_back(took.count());
  }
  return quantile(times, 0.5);
}

// Of one matrix on a device: microseconds, and the heap's use by predicting.
struct Costs {
  double product = 0, host_product = 0, features = 0, choice = 0;
  double values[kSparseFormats] = {};  // 0: does not fit
  std::uint64_t allocations = 0;
};

Costs costs_of(const System& system, Device& device, ApplicationQueue& queue, Bytes model,
               int rounds) {
  Costs costs;
  const SparsityPattern& pattern = system.matrix.pattern;
  DeviceKernels kernels(device, Precision::f64);
  const std::size_t bytes = system.b.size() * sizeof(double);
  const auto x = required(queue.allocate(bytes)), y = required(queue.allocate(bytes));
  require(queue.write(*x, 0, {reinterpret_cast<const std::uint8_t*>(system.b.data()), bytes}));
  require(queue.wait());
  for (std::size_t f = 0; f < kSparseFormats; ++f) {
    auto stored = convert(pattern, static_cast<SparseFormat>(f), sizeof(double), kLimit);
    if (!stored.ok()) continue;
    DeviceMatrix matrix(queue, std::move(*stored), sizeof(double));
    require(matrix.upload(system.matrix.values));
    const auto product = [&] {
      require(matrix.multiply(kernels, kKernel, *x, *y));
      require(queue.wait());
    };
    product();
    if (f == 0) costs.product = median_us(rounds, product);
    costs.values[f] =
        median_us(rounds, [&] { require(matrix.upload_values(system.matrix.values)); });
  }
  std::vector<double> product(system.b.size());
  costs.host_product = median_us(
      rounds, [&] { krylov::multiply(pattern, system.matrix.values, system.b, product); });
  costs.features = median_us(rounds, [&] { (void)features_of(pattern); });
  ModelChoice choice;
  require(choice.open(model, kernels.device().info().name, kernels.number_bytes()));
  if (!choice.open()) return costs;
  ProductInputs inputs[kSparseFormats];
  for (ProductInputs& of_format : inputs)
    of_format = product_inputs(features_of(pattern), static_cast<double>(pattern.entries()));
  const std::uint64_t before = allocations_of_this_thread();
  choice.choose(inputs);
  for (std::size_t f = 0; f < kSparseFormats; ++f)
    (void)choice.best_us(static_cast<SparseFormat>(f));
  costs.allocations = allocations_of_this_thread() - before;
  costs.choice = median_us(rounds, [&] { choice.choose(inputs); });
  return costs;
}

bool print_costs(const System& system, Bytes model, int rounds) {
  const auto device = required(opencl::open(0));
  const auto queue = required(opencl::application_queue(*device));
  const Costs costs = costs_of(system, *device, *queue, model, rounds);
  std::printf("| `%s` | %d | %zu | %.1f | %.1f | %.1f (%.1f) | ", system.name.c_str(),
              system.matrix.pattern.rows, system.matrix.values.size(), costs.product,
              costs.host_product, costs.features, costs.features / costs.product);
  std::printf(costs.choice > 0 ? "%.1f |" : "- |", costs.choice);
  for (const double values : costs.values) {
    if (values == 0) {
      std::printf(" no room |");
    } else {
      std::printf(" %.1f (%.1f) |", values, values / costs.product);
    }
  }
  std::printf("\n");
  if (costs.allocations > 0)
    std::printf("predicting allocated %zu times\n", static_cast<std::size_t>(costs.allocations));
  return costs.allocations == 0;
}

// A product's launch and the raw calls in turn, on a library that does nothing.
class LaunchContest {
 public:
  explicit LaunchContest(const System& system) {
    opencl::OpenOptions stub;
    stub.library = IDLETUNE_STUB_OPENCL;
    api_ = required(opencl::load(stub.library));
    exclude_library_of(reinterpret_cast<const void*>(api_->SetKernelArg));
    device_ = required(opencl::open(0, stub));
    queue_ = required(opencl::application_queue(*device_));
    kernels_ = std::make_unique<DeviceKernels>(*device_, Precision::f32);
    matrix_ = std::make_unique<DeviceMatrix>(
        *queue_, required(convert(system.matrix.pattern, SparseFormat::csr, 4, kLimit)), 4);
    require(matrix_->upload(system.matrix.values));
    x_ = required(queue_->allocate(4 * system.b.size()));
    y_ = required(queue_->allocate(4 * system.b.size()));
    // As many other kernels as a solver has compiled after its race.
    for (const std::int32_t group : {16, 32, 128, 256}) {
      for (const std::int32_t kind : {0, 1})
        (void)required(kernels_->get(Operation::csr, {kind, group}));
    }
    rows_ = system.b.size();
    const opencl::Handles handles = opencl::handles(*device_);
    raw_queue_ = static_cast<cl_command_queue>(handles.queue);
    cl_int error = CL_SUCCESS;
    const char* text = "__kernel void raw(void) {}";
    const std::size_t length = std::strlen(text);
    program_ = api_->CreateProgramWithSource(static_cast<cl_context>(handles.context), 1, &text,
                                             &length, &error);
    auto device = static_cast<cl_device_id>(handles.device);
    api_->BuildProgram(program_, 1, &device, "", nullptr, nullptr);
    kernel_ = api_->CreateKernel(program_, "raw", &error);
    if (error != CL_SUCCESS) require(opencl::to_status(error, "clCreateKernel"));
  }
  ~LaunchContest() {
    api_->ReleaseKernel(kernel_);
    api_->ReleaseProgram(program_);
  }
  LaunchContest(const LaunchContest&) = delete;
  LaunchContest& operator=(const LaunchContest&) = delete;

  void call() { require(matrix_->multiply(*kernels_, kKernel, *x_, *y_)); }
  void call_raw() {
    const std::int32_t value = 0;
    for (std::size_t i = 0; i < kArguments; ++i) {
      api_->SetKernelArg(kernel_, static_cast<cl_uint>(i), i < 2 ? sizeof value : sizeof(cl_mem),
                         i < 2 ? static_cast<const void*>(&value) : x_->argument().data());
    }
    const std::size_t global[] = {(rows_ + 63) / 64 * 64};
    const std::size_t local[] = {64};
    api_->EnqueueNDRangeKernel(raw_queue_, kernel_, 1, nullptr, global, local, 0, nullptr, nullptr);
  }

 private:
  std::shared_ptr<const opencl::Api> api_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<ApplicationQueue> queue_;
  std::unique_ptr<DeviceKernels> kernels_;
  std::unique_ptr<DeviceMatrix> matrix_;
  std::unique_ptr<Buffer> x_, y_;
  std::size_t rows_ = 0;
  cl_command_queue raw_queue_ = nullptr;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
};

bool print_launch(const System& system, int rounds) {
  constexpr int kCalls = 1000;
  LaunchContest contest(system);
  contest.call();
  const std::uint64_t before = allocations_of_this_thread();
  contest.call();
  const std::uint64_t allocated = allocations_of_this_thread() - before;
  std::vector<double> over;
  const auto time_of = [&](const auto& call) {
    return median_us(1,
                     [&] {
                       for (int i = 0; i < kCalls; ++i) call();
                     }) *
           1e3 / kCalls;
  };
  for (int round = 0; round < rounds; ++round) {
    const double raw = time_of([&] { contest.call_raw(); });
    over.push_back(time_of([&] { contest.call(); }) - raw);
  }
  std::printf(
      "\nA launch: %.0f ns over the raw calls (median of %d rounds of %d; middle half %.0f to "
      "%.0f)\n",
      quantile(over, 0.5), rounds, kCalls, quantile(over, 0.25), quantile(over, 0.75));
  if (allocated > 0)
    std::printf("a launch allocated %zu times\n", static_cast<std::size_t>(allocated));
  return allocated == 0;
}

int run(const std::vector<System>& systems, const std::vector<std::uint8_t>& model, bool quick) {
  const int rounds = quick ? 3 : 101;
  std::printf(
      "Microseconds, medians of %d; in brackets products of this matrix on the device (CSR, a work "
      "item per row, groups of 64).\n\n"
      "| matrix | rows | entries | product | on the host | features | choice | new values in CSR | "
      "COO | DIA | ELL | HYB | SELL |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      rounds);
  bool lean = true;
  for (const System& system : systems) lean = print_costs(system, model, rounds) && lean;
  lean = print_launch(systems[0], rounds) && lean;
  return lean ? 0 : 1;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  using namespace idletune::bench;
  std::vector<System> systems;
  std::vector<std::uint8_t> model;
  bool quick = false;
  return idletune::bench::ended("krylov_cost", [&] {
    for (int i = 1; i < argc; ++i) {
      const bool value = i + 1 < argc;
      if (std::strcmp(argv[i], "--quick") == 0) {
        quick = true;
      } else if (std::strcmp(argv[i], "--model") == 0 && value) {
        model = required(idletune::read_file(argv[++i], std::size_t{1} << 28));
      } else if (std::strcmp(argv[i], "--grid") == 0 && value) {
        systems.push_back(grid(std::max(1, std::atoi(argv[++i]))));
      } else if (argv[i][0] != '-') {
        systems.push_back(from_file(argv[i]));
      } else {
        std::fprintf(stderr,
                     "usage: krylov_cost [--quick] [--model M] [--grid SIDE]... [A.mtx.gz]...\n");
        return 2;
      }
    }
    if (systems.empty()) systems.push_back(grid(64));
    return run(systems, model, quick);
  });
}
