#include "tests/integration/stress/workplace.hpp"

#include <chrono>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <thread>

#include "agent/journal/journal.hpp"
#include "models/host/pack/pack.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/boot.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/predict/model_builder.hpp"

namespace idletune::stress {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCallers = 4;
// Only ever reached by a failure: the machine may be slow.
constexpr auto kPatience = std::chrono::minutes(5);

void require_cl(cl_int error, const char* call) {
  if (error != CL_SUCCESS) require(opencl::to_status(error, call), call);
}

KernelDescription kernel() {
  KernelDescription kernel = test::made_kernel("stress", R"(
__kernel void stress(const int n, const __global float* in, __global float* out) {
  const int first = (int)get_global_id(0) * PER;
  for (int i = first; i < min(first + PER, n); ++i) out[i] = 2.0f * in[i];
}
)");
  kernel.dialect = Dialect::opencl;
  kernel.parameters = {{"WIDTH", ParameterKind::work_group, {8, 16, 32, 64}, 8},
                       {"PER", ParameterKind::coarsening, {1, 2, 4, 8}, 1}};
  kernel.launch.global = {"round_up(ceil_div(N, PER), WIDTH)"};
  kernel.launch.local = {"WIDTH"};
  kernel.arguments = {test::made_dimension("n", "N"), test::made_input("in", "N", 0, 0),
                      test::made_buffer("out", "N", Access::out)};
  return kernel;
}

}  // namespace

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

void require(const Status& status, const char* what) {
  require(status.ok(), std::string(what) + ": " + status.to_string());
}

std::vector<std::uint8_t> package() {
  auto bytes = pack(kernel());
  require(bytes.status(), "pack");
  return std::move(*bytes);
}

Shape shape_of(std::size_t i) { return Shape{512 + 64 * static_cast<std::int64_t>(i)}; }

std::vector<std::uint8_t> model_saying(std::int64_t width, std::int64_t per) {
  test::ModelContent content;
  content.kernel = "stress";
  content.parameters = {"WIDTH", "PER"};
  content.sources[0].shape = {1024};
  content.sources[0].valid = content.sources[0].measured = 16;
  content.generation = 1;
  content.portfolio_values = {width, per, 16, 4};
  content.portfolio_relative = {1.0f, 0.8f};
  content.portfolio_score = {0.9f, 0.7f};
  content.picks = {{-1, {}, {width, per}, 0.9f}};
  return test::build_model(content);
}

Workplace::Workplace() {
  push_model(1);
  require(write_file_atomically(package_, package()), "writing the package");
}

std::string Workplace::state_with_adoptions(const DeviceInfo& device, const char* name) const {
  const std::string state = folder_.path() + "/" + name;
  auto opened = KernelPackage::open(package(), "stress");
  require(opened.status(), "opening the package");
  journal::JournalOptions options;
  options.boot = boot_identity();
  const auto journal = journal::Journal::open(open_posix_storage(state), options);
  for (std::size_t i = 0; i < kAdoptedShapes; ++i) {
    journal::Adoption adoption;
    adoption.trial.kernel = (*opened)->digest();
    adoption.trial.device = device.device_key();
    adoption.trial.driver = device.driver_key();
    adoption.trial.shape = shape_of(i);
    adoption.trial.configuration = kAdopted;
    adoption.expected = std::chrono::microseconds(50);
    adoption.default_time = std::chrono::microseconds(100);
    adoption.checked_seeds = 2;
    journal->adopted(adoption);
  }
  require(journal->shutdown(), "writing the journal of an earlier run");
  return state;
}

void Workplace::push_model(std::uint64_t number) const {
  const std::vector<std::uint8_t> bytes = number % 5 == 4   ? std::vector<std::uint8_t>(50, 'x')
                                          : number % 2 == 0 ? model_saying(64, 4)
                                                            : model_saying(16, 2);
  require(write_file_atomically(model_, bytes), "pushing a model");
}

Launcher::Launcher(const opencl::Handles& handles, bool own_queue)
    : input_(kMaxElements), output_(kMaxElements) {
  auto api = opencl::load("");
  require(api.status(), "opencl::load");
  api_ = *api;
  auto* context = static_cast<cl_context>(handles.context);
  cl_int error = CL_SUCCESS;
  if (own_queue) {
    queue_ =
        api_->CreateCommandQueue(context, static_cast<cl_device_id>(handles.device), 0, &error);
    require_cl(error, "clCreateCommandQueue");
  } else {
    queue_ = static_cast<cl_command_queue>(handles.queue);
    require_cl(api_->RetainCommandQueue(queue_), "clRetainCommandQueue");
  }
  const std::size_t bytes = input_.size() * sizeof(float);
  in_ = api_->CreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
  require_cl(error, "clCreateBuffer");
  out_ = api_->CreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
  require_cl(error, "clCreateBuffer");
  for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = static_cast<float>(i % 1000);
  require_cl(
      api_->EnqueueWriteBuffer(queue_, in_, CL_TRUE, 0, bytes, input_.data(), 0, nullptr, nullptr),
      "clEnqueueWriteBuffer");
}

Launcher::~Launcher() {
  api_->Finish(queue_);
  api_->ReleaseMemObject(in_);
  api_->ReleaseMemObject(out_);
  api_->ReleaseCommandQueue(queue_);
}

void Launcher::poison() {
  output_.assign(output_.size(), std::numeric_limits<float>::quiet_NaN());
  require_cl(api_->EnqueueWriteBuffer(queue_, out_, CL_TRUE, 0, output_.size() * sizeof(float),
                                      output_.data(), 0, nullptr, nullptr),
             "clEnqueueWriteBuffer");
}

bool Launcher::output_is_right(std::int64_t elements) {
  require_cl(api_->EnqueueReadBuffer(queue_, out_, CL_TRUE, 0, output_.size() * sizeof(float),
                                     output_.data(), 0, nullptr, nullptr),
             "clEnqueueReadBuffer");
  for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
    if (!(output_[i] == 2.0f * input_[i])) return false;
  }
  return true;
}

void launch_until(const std::atomic<bool>& stop, const opencl::Handles& handles,
                  const Launch& launch, Launched& done) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kLaunchers; ++t) {
    threads.emplace_back([&, t] {
      Launcher launcher(handles, t % 2 == 1);
      for (std::size_t i = static_cast<std::size_t>(t); !stop; ++i) {
        const Shape shape = shape_of(i % kShapes);
        const bool checked = i % 8 == 0;
        if (checked) launcher.poison();
        launch(launcher, shape);
        ++done.launches;
        if (checked) {
          require(launcher.output_is_right(shape[0]), "a launch computed something wrong");
          ++done.checks;
        }
        if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void call_until(const std::atomic<bool>& stop, const std::vector<Call>& calls,
                std::vector<std::atomic<std::uint64_t>>& counts) {
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kCallers; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 4 * t; !stop; ++i) {
        const std::size_t which = i % calls.size();
        calls[which].make(counts[which]++);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

namespace {

void say(const char* title, const Launched& done, const std::vector<Call>& calls,
         const std::vector<std::atomic<std::uint64_t>>& counts) {
  std::printf("%s: %llu launches, %llu of them checked; calls:", title,
              static_cast<unsigned long long>(done.launches),
              static_cast<unsigned long long>(done.checks));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::printf(" %s %llu", calls[i].name, static_cast<unsigned long long>(counts[i]));
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

void run_all(const char* title, double seconds, const opencl::Handles& handles,
             const Launch& launch, const std::vector<Call>& calls,
             const std::function<bool()>& enough) {
  std::atomic<bool> stop{false};
  Launched done;
  std::vector<std::atomic<std::uint64_t>> counts(calls.size());
  std::thread launching([&] { launch_until(stop, handles, launch, done); });
  std::thread calling([&] { call_until(stop, calls, counts); });
  const auto all_made = [&] {
    for (const auto& count : counts) {
      if (count == 0) return false;
    }
    return done.checks > 0 && enough();
  };
  const Clock::time_point start = Clock::now();
  const auto elapsed = [&] { return Clock::now() - start; };
  Clock::time_point said = start;
  while (elapsed() < kPatience &&
         (elapsed() < std::chrono::duration<double>(seconds) || !all_made())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (Clock::now() - said < std::chrono::seconds(10)) continue;
    said = Clock::now();
    say(title, done, calls, counts);
  }
  stop = true;
  launching.join();
  calling.join();
  say(title, done, calls, counts);
  require(all_made(), std::string(title) + ": not every call came to its turn in time");
}

}  // namespace idletune::stress
