// C = A B on the first OpenCL device: this repository's GEMM in its default and in its tuned
// configuration, CLBlast with the parameters that it chooses by itself, and OpenBLAS on the same
// cores. Every call is waited for; the four take turns, so that whatever else the machine does
// meets all. Exits with 1 where a result differs from OpenBLAS's; never because of a time.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <cblas.h>
#include <clblast.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/in_process.hpp>
#include <idletune/opencl.hpp>

#include "models/package/pack.hpp"
#include "models/package/xml.hpp"
#include "tests/bench/required.hpp"
#include "tests/paths.hpp"

namespace idletune::bench {
namespace {

struct Size {
  std::size_t m, n, k;
};

constexpr Size kSizes[] = {{256, 256, 256}, {512, 512, 512}, {64, 3136, 147}, {8, 1000, 512}};
constexpr unsigned kSeed = 20190501;

void require_success(cl_int error, const char* call) {
  if (error != CL_SUCCESS) throw std::runtime_error(call + (": " + std::to_string(error)));
}

// The application: context, queue, three buffers and their host copies.
class Workplace {
 public:
  explicit Workplace(const Size& size) : size_(size) {
    cl_platform_id platform = nullptr;
    require_success(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    require_success(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr),
                    "clGetDeviceIDs");
    cl_int error = CL_SUCCESS;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
    require_success(error, "clCreateContext");
    queue_ = clCreateCommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE, &error);
    require_success(error, "clCreateCommandQueue");
    std::mt19937 generator(kSeed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    const auto random = [&](std::size_t count) {
      std::vector<float> values(count);
      for (float& value : values) value = uniform(generator);
      return values;
    };
    a_ = random(size.m * size.k);
    b_ = random(size.k * size.n);
    device_a_ = upload(a_);
    device_b_ = upload(b_);
    device_c_ = upload(std::vector<float>(size.m * size.n));
  }
  ~Workplace() {
    for (cl_mem memory : {device_a_, device_b_, device_c_}) clReleaseMemObject(memory);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  void openblas() {
    c_.resize(size_.m * size_.n);
    const auto m = static_cast<blasint>(size_.m), n = static_cast<blasint>(size_.n),
               k = static_cast<blasint>(size_.k);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, a_.data(), k, b_.data(),
                n, 0.0f, c_.data(), n);
  }
  void clblast() {
    const auto status =
        clblast::Gemm<float>(clblast::Layout::kRowMajor, clblast::Transpose::kNo,
                             clblast::Transpose::kNo, size_.m, size_.n, size_.k, 1.0f, device_a_, 0,
                             size_.k, device_b_, 0, size_.n, 0.0f, device_c_, 0, size_.n, &queue_);
    if (status != clblast::StatusCode::kSuccess) throw std::runtime_error("clblast::Gemm failed");
    require_success(clFinish(queue_), "clFinish");
  }
  void idletune(TunedKernel& kernel) {
    require(kernel.launch(shape(), device_a_, device_b_, device_c_, 1.0f, 0.0f));
    require_success(clFinish(queue_), "clFinish");
  }

  // The largest difference of what is on the device from OpenBLAS's result.
  float difference() {
    std::vector<float> found(size_.m * size_.n);
    require_success(clEnqueueReadBuffer(queue_, device_c_, CL_TRUE, 0, found.size() * sizeof(float),
                                        found.data(), 0, nullptr, nullptr),
                    "clEnqueueReadBuffer");
    float largest = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      largest = std::max(largest, std::isnan(found[i]) ? INFINITY : std::fabs(found[i] - c_[i]));
    }
    return largest;
  }
  Shape shape() const {
    return {static_cast<std::int64_t>(size_.m), static_cast<std::int64_t>(size_.n),
            static_cast<std::int64_t>(size_.k)};
  }
  std::unique_ptr<Device> adopted() {
    return required(opencl::adopt(context_, device_, queue_, opencl::OpenOptions()));
  }

 private:
  cl_mem upload(const std::vector<float>& values) {
    cl_int error = CL_SUCCESS;
    cl_mem memory =
        clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                       values.size() * sizeof(float), const_cast<float*>(values.data()), &error);
    require_success(error, "clCreateBuffer");
    return memory;
  }

  Size size_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::vector<float> a_, b_, c_;
  cl_mem device_a_ = nullptr, device_b_ = nullptr, device_c_ = nullptr;
};

// An agent that only launches, or one that tuned before.
struct Contestant {
  Contestant(Workplace& work, Mode mode, const std::string& state) : device(work.adopted()) {
    AgentOptions options;
    options.read_environment = false;
    options.mode = mode;
    options.state = state;
    options.in_process = trials_in_process();
    agent = std::make_unique<Agent>(required(Agent::open(options)));
    std::vector<std::uint8_t> package =
        required(pack(required(read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/kernels/gemm/gemm.xml"))));
    kernel = std::make_unique<TunedKernel>(required(agent->kernel(*device, std::move(package))));
    require(kernel->prepare(work.shape()));
  }
  std::unique_ptr<Device> device;
  std::unique_ptr<Agent> agent;
  std::unique_ptr<TunedKernel> kernel;
};

struct Spread {
  double low = 0, median = 0, high = 0;
};

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return {at(0.25), at(0.5), at(0.75)};
}

double milliseconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

bool contest(const Size& size, double tuning_seconds, const std::string& state, int rounds) {
  Workplace work(size);
  Contestant tuned(work, Mode::tune, state);
  work.idletune(*tuned.kernel);  // so that the agent knows the shape
  (void)tuned.agent->tune_now(std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(tuning_seconds)));
  work.idletune(*tuned.kernel);  // what was adopted is in use from now on
  const Explanation explanation = required(tuned.kernel->explain(work.shape()));
  Contestant untuned(work, Mode::off, "");
  const std::vector<std::pair<const char*, std::function<void()>>> contestants = {
      {"OpenBLAS", [&] { work.openblas(); }},
      {"CLBlast", [&] { work.clblast(); }},
      {"idletune, default", [&] { work.idletune(*untuned.kernel); }},
      {"idletune, tuned", [&] { work.idletune(*tuned.kernel); }}};
  bool right = true;
  for (const auto& [name, run] : contestants) {  // the warm-up
    run();
    if (name == contestants.front().first) continue;  // the truth
    if (const float difference = work.difference();
        !(difference <= 1e-5f * static_cast<float>(size.k))) {
      std::fprintf(stderr, "gemm_contest: %s is off by %g\n", name,
                   static_cast<double>(difference));
      right = false;
    }
  }
  std::vector<std::vector<double>> times(contestants.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(round)) % contestants.size();
      times[turn].push_back(milliseconds_of(contestants[turn].second));
    }
  }
  std::printf("| %zu x %zu x %zu |", size.m, size.n, size.k);
  for (const std::vector<double>& all : times) {
    const Spread spread = spread_of(all);
    std::printf(" %.3f [%.3f .. %.3f] |", spread.median, spread.low, spread.high);
  }
  const double operations = 2.0 * static_cast<double>(size.m * size.n * size.k);
  std::printf(" %.1f | %.2f | %.2f | %llu |\n", operations / spread_of(times[3]).median * 1e-6,
              spread_of(times[1]).median / spread_of(times[3]).median,
              spread_of(times[0]).median / spread_of(times[3]).median,
              static_cast<unsigned long long>(explanation.evaluated));
  std::fflush(stdout);
  return right;
}

int run(double tuning_seconds, const std::string& state, int rounds) {
  std::printf("C = A B in single precision, row-major; milliseconds, median of %d [quartiles].\n\n",
              rounds);
  std::printf(
      "| M x N x K | OpenBLAS | CLBlast | idletune, default | idletune, tuned | GFLOP/s | CLBlast "
      "/ tuned | OpenBLAS / tuned | configurations tried "
      "|\n|---|---|---|---|---|---|---|---|---|\n");
  bool right = true;
  for (const Size& size : kSizes) right = contest(size, tuning_seconds, state, rounds) && right;
  return right ? 0 : 1;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  double tuning_seconds = 60;
  int rounds = 101;
  std::string state;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--tune-seconds") == 0 && i + 1 < argc) {
      tuning_seconds = std::atof(argv[++i]);
    } else if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      rounds = std::max(1, std::atoi(argv[++i]));
    } else if (std::strcmp(argv[i], "--state") == 0 && i + 1 < argc) {
      state = argv[++i];
    } else {
      std::fprintf(stderr,
                   "usage: gemm_contest [--tune-seconds S] [--rounds N] [--state FOLDER]\n");
      return 2;
    }
  }
  try {
    return idletune::bench::run(tuning_seconds, state, rounds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gemm_contest: %s\n", error.what());
    return 1;
  }
}
