// Measures what a call of idletune::gemm costs beside the raw OpenCL calls that do the same (as
// many clSetKernelArg as the kernel has arguments, then clEnqueueNDRangeKernel), on an OpenCL
// library that does nothing. The two take turns. Exits with 1 if a call fails, or
// allocates on the heap; never because of a time.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <idletune/gemm.hpp>
#include <idletune/opencl.hpp>

#include "models/core/random.hpp"
#include "platform/opencl/loader.hpp"
#include "tests/bench/launch_cost/allocation_counter.hpp"
#include "tests/bench/launch_cost/tuning_beside.hpp"
#include "tests/bench/quartiles.hpp"
#include "tests/bench/required.hpp"
#include "tests/paths.hpp"

namespace idletune::bench {
namespace {

constexpr std::uint64_t kSeed = 20261122;
constexpr std::size_t kArguments = 19;
constexpr std::int64_t kLargest = 512;

class Contest {
 public:
  explicit Contest(Mode mode) {
    opencl::OpenOptions stub;
    stub.library = IDLETUNE_STUB_OPENCL;
    api_ = required(opencl::load(stub.library));
    exclude_library_of(reinterpret_cast<const void*>(api_->SetKernelArg));
    device_ = required(opencl::open(0, stub));
    AgentOptions options;
    options.read_environment = false;
    options.model = kNoModel;
    options.mode = mode;
    options.helper = IDLETUNE_BUILT_HELPER;
    agent_ = std::make_unique<Agent>(required(Agent::open(options)));
    gemm_ = std::make_unique<Gemm>(required(Gemm::open(*agent_, *device_)));
    for (std::unique_ptr<Buffer>& buffer : buffers_) {
      buffer = required(device_->allocate(kLargest * kLargest * sizeof(float)));
    }
    const opencl::Handles handles = opencl::handles(*device_);
    queue_ = static_cast<cl_command_queue>(handles.queue);
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
  ~Contest() {
    api_->ReleaseKernel(kernel_);
    api_->ReleaseProgram(program_);
  }
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  void call(const Shape& shape) { require(gemm_->multiply(product_of(shape))); }
  // Tunes the shape until something is adopted. Throws if nothing is.
  void tune(const Shape& shape) {
    call(shape);
    const auto end = std::chrono::steady_clock::now() + kTuningPatience;
    while (required(gemm_->explain(product_of(shape))).selection != Selection::tuned) {
      (void)agent_->tune_now(std::chrono::seconds(2));
      if (std::chrono::steady_clock::now() < end) continue;
      throw std::runtime_error(
          "nothing was adopted (trials: " + agent_->status().trials.to_string() + ")");
    }
  }
  // Calls of the shape run what is offered for its class and the default in turn, until the agent
  // knows which one is faster.
  void compare_class(const Shape& shape) {
    for (int i = 0; i < 64; ++i) {
      call(shape);
      (void)agent_->idle(std::chrono::milliseconds(0));
    }
  }
  AgentStatus status() const { return agent_->status(); }
  void call_raw(const Shape& shape) {
    const std::int64_t value = 0;
    for (std::size_t i = 0; i < kArguments; ++i) {
      const bool buffer = i >= 4 && i < 8;
      api_->SetKernelArg(kernel_, static_cast<cl_uint>(i), buffer ? sizeof(cl_mem) : 4,
                         buffer ? buffers_[0]->argument().data() : &value);
    }
    const auto groups = [](std::int64_t size) { return static_cast<std::size_t>(size + 31) / 32; };
    const std::size_t global[] = {groups(shape[1]) * 8, groups(shape[0]) * 8, 1};
    const std::size_t local[] = {8, 8, 1};
    api_->EnqueueNDRangeKernel(queue_, kernel_, 3, nullptr, global, local, 0, nullptr, nullptr);
  }

 private:
  Product product_of(const Shape& shape) const {
    Product product;
    product.m = shape[0], product.n = shape[1], product.k = shape[2];
    product.a = {buffers_[0]->argument(), 0, shape[2]};
    product.b = {buffers_[1]->argument(), 0, shape[1]};
    product.c = {buffers_[2]->argument(), 0, shape[1]};
    return product;
  }

  std::shared_ptr<const opencl::Api> api_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Agent> agent_;
  std::unique_ptr<Gemm> gemm_;
  std::unique_ptr<Buffer> buffers_[3];
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
};

template <class Function>
double nanoseconds_each(const std::vector<Shape>& shapes, std::size_t from, std::size_t to,
                        Function call) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = from; i < to; ++i) call(shapes[i % shapes.size()]);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(to - from);
}

// `calls` in rounds of 1000, the two in turn. How often ours allocated.
std::uint64_t compare(Contest& contest, const char* name, const std::vector<Shape>& shapes,
                      std::size_t calls) {
  std::vector<double> differences;
  std::uint64_t allocated = 0;
  for (std::size_t from = 0; from < calls; from += 1000) {
    const auto raw = [&](const Shape& shape) { contest.call_raw(shape); };
    const auto ours = [&](const Shape& shape) { contest.call(shape); };
    const double without = nanoseconds_each(shapes, from, from + 1000, raw);
    const std::uint64_t before = allocations_of_this_thread();
    const double with = nanoseconds_each(shapes, from, from + 1000, ours);
    allocated += allocations_of_this_thread() - before;
    differences.push_back(with - without);
  }
  std::printf("%-28s %7zu calls: %6.0f ns over the raw calls (median; middle half %.0f to %.0f)\n",
              name, calls, quantile(differences, 0.5), quantile(differences, 0.25),
              quantile(differences, 0.75));
  return allocated;
}

std::vector<Shape> random_shapes(std::size_t count) {
  Random random(kSeed);
  const auto side = [&] { return 1 + static_cast<std::int64_t>(random.below(kLargest)); };
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < count; ++i) shapes.push_back({side(), side(), side()});
  return shapes;
}

// Different shapes of one class in every configuration: two whole tiles or more along each
// dimension, and an odd rest. Each is called once, and runs what was adopted for the first of them.
// How often a call allocated.
std::uint64_t run_with_classes(std::size_t calls) {
  const Variable library("IDLETUNE_OPENCL_LIBRARY", IDLETUNE_STUB_OPENCL);
  const Variable computing("STUB_OPENCL_GEMM", "2");
  Contest contest(Mode::tune);
  std::vector<Shape> shapes;
  const auto side = [](std::size_t i) { return 257 + 2 * static_cast<std::int64_t>(i % 48); };
  for (std::size_t i = 0; i <= calls; ++i) {
    shapes.push_back({side(i), side(i / 48), side(i / 2304)});
  }
  contest.tune(shapes[0]);
  shapes.erase(shapes.begin());
  contest.compare_class(shapes[0]);
  const std::uint64_t allocated = compare(contest, "never seen, class ready", shapes, calls);
  const AgentStatus status = contest.status();
  if (status.class_launches == status.unslotted_launches && status.class_launches + 64 >= calls) {
    return allocated;
  }
  throw std::runtime_error(std::to_string(status.class_launches) + " of " +
                           std::to_string(status.unslotted_launches) +
                           " calls without a slot ran their class's variant, expected all");
}

int run(bool quick) {
  Contest contest(Mode::off);
  const std::size_t calls = quick ? 2000 : 100000;
  const std::vector<Shape> one{{256, 256, 256}};
  const std::vector<Shape> sixteen = random_shapes(16);
  for (const Shape& shape : sixteen) contest.call(shape);
  contest.call(one[0]);
  const std::uint64_t before = allocations_of_this_thread();
  contest.call(one[0]);
  for (const Shape& shape : sixteen) contest.call(shape);
  std::uint64_t allocated = allocations_of_this_thread() - before;
  allocated += compare(contest, "one shape", one, calls);
  allocated += compare(contest, "16 shapes in turn", sixteen, calls);
  allocated += compare(contest, "shapes never seen", random_shapes(calls), calls);
  allocated += run_with_classes(calls);
  if (allocated > 0)
    std::printf("calls allocated %zu times\n", static_cast<std::size_t>(allocated));
  return allocated == 0 ? 0 : 1;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  return idletune::bench::ended("gemm_call_cost", [&] {
    return idletune::bench::run(argc > 1 && std::string(argv[1]) == "--quick");
  });
}
