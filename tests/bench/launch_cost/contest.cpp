#include "tests/bench/launch_cost/contest.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include <idletune/opencl.hpp>

#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/bench/launch_cost/tuning_beside.hpp"
#include "tests/bench/required.hpp"
#include "tests/bytes_of.hpp"
#include "tests/paths.hpp"

namespace idletune::bench {
namespace {

constexpr float kAlpha = 1.5f;
constexpr float kBeta = -0.5f;
constexpr float kOldOutput = 0.25f;

void require_success(cl_int error, const char* call) {
  if (error != CL_SUCCESS) require(opencl::to_status(error, call));
}

// The same product several times, all but the last one into scratch.
void repeat(KernelDescription& gemm, std::size_t launches) {
  DescribedArgument scratch;
  scratch.name = "scratch";
  scratch.kind = ArgumentKind::scratch;
  scratch.size = "M * N";
  DescribedStep step;
  step.entry = gemm.entry;
  step.launch = gemm.launch;
  for (const DescribedArgument& argument : gemm.arguments) step.arguments.push_back(argument.name);
  gemm.steps.assign(launches, step);
  for (std::size_t i = 0; i + 1 < launches; ++i) {
    std::replace(gemm.steps[i].arguments.begin(), gemm.steps[i].arguments.end(), std::string("c"),
                 scratch.name);
  }
  gemm.arguments.push_back(scratch);
  gemm.entry.clear();
  gemm.launch = {};
}

// The GEMM of this repository; with one configuration alone where nothing is to be tuned.
std::vector<std::uint8_t> gemm_package(bool nothing_to_tune, std::size_t launches) {
  KernelDescription gemm =
      required(read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/kernels/gemm/gemm.xml"));
  for (DescribedParameter& parameter : gemm.parameters) {
    if (nothing_to_tune) parameter.values = {parameter.default_value};
  }
  if (launches > 1) repeat(gemm, launches);
  return required(pack(gemm));
}

cl_mem memory_object(const Buffer& buffer) {
  cl_mem object = nullptr;
  std::memcpy(&object, buffer.argument().data(), sizeof object);
  return object;
}

std::size_t elements(const Shape& shape, std::size_t rows, std::size_t columns) {
  return static_cast<std::size_t>(shape[rows]) * static_cast<std::size_t>(shape[columns]);
}

// Small whole numbers: exact in any order of summation.
std::vector<float> input(std::size_t count, std::size_t period) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i % period) - static_cast<float>(period / 2);
  }
  return values;
}

}  // namespace

Contest::Contest(const ContestOptions& options)
    : shapes_(options.shapes), launches_(options.launches) {
  api_ = required(opencl::load(options.library));
  open_device(options);
  std::vector<std::uint8_t> bytes = gemm_package(options.nothing_to_tune, launches_);
  make_raw_kernel(*required(KernelPackage::open(bytes, "gemm")));
  make_buffers();

  AgentOptions agent_options;
  agent_options.read_environment = false;
  agent_options.model = kNoModel;
  agent_options.helper = IDLETUNE_BUILT_HELPER;
  agent_options.max_shapes = options.max_shapes;
  agent_ = std::make_unique<Agent>(required(Agent::open(agent_options)));
  tuned_ = std::make_unique<TunedKernel>(required(agent_->kernel(*device_, std::move(bytes))));
  // Scratch of the default is taken when a shape is prepared, or at its first launch.
  for (const Shape& shape : shapes_) {
    if (launches_ > 1 && options.prepared) require(tuned_->prepare(shape));
  }
}

Contest::~Contest() {
  tuned_.reset();
  agent_.reset();
  for (std::unique_ptr<Buffer>& buffer : buffers_) buffer.reset();
  if (kernel_ != nullptr) api_->ReleaseKernel(kernel_);
  if (program_ != nullptr) api_->ReleaseProgram(program_);
  device_.reset();
  if (queue_ != nullptr) api_->ReleaseCommandQueue(queue_);
  if (context_ != nullptr) api_->ReleaseContext(context_);
}

void Contest::open_device(const ContestOptions& options) {
  opencl::OpenOptions open_options;
  open_options.library = options.library;
  const std::unique_ptr<Device> opened = required(opencl::open(options.device_index, open_options));
  auto device = static_cast<cl_device_id>(opencl::handles(*opened).device);
  cl_int error = CL_SUCCESS;
  context_ = api_->CreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  require_success(error, "clCreateContext");
  queue_ = api_->CreateCommandQueue(context_, device,
                                    options.profiled_queue ? CL_QUEUE_PROFILING_ENABLE : 0, &error);
  require_success(error, "clCreateCommandQueue");
  device_ = required(opencl::adopt(context_, device, queue_, open_options));
}

void Contest::make_raw_kernel(const KernelPackage& package) {
  auto device = static_cast<cl_device_id>(opencl::handles(*device_).device);
  const std::string_view source = package.source();
  const std::string entry(package.entry());
  const std::string options = package.compile_options(package.default_configuration());
  const char* text = source.data();
  const std::size_t length = source.size();
  cl_int error = CL_SUCCESS;
  program_ = api_->CreateProgramWithSource(context_, 1, &text, &length, &error);
  require_success(error, "clCreateProgramWithSource");
  require_success(api_->BuildProgram(program_, 1, &device, options.c_str(), nullptr, nullptr),
                  "clBuildProgram");
  kernel_ = api_->CreateKernel(program_, entry.c_str(), &error);
  require_success(error, "clCreateKernel");
  for (const Shape& shape : shapes_) {
    const LaunchPlan plan = required(package.plan(shape, package.default_configuration()));
    raw_launches_.push_back({static_cast<cl_int>(shape[0]), static_cast<cl_int>(shape[1]),
                             static_cast<cl_int>(shape[2]), plan.first().range});
  }
}

void Contest::make_buffers() {
  std::size_t a = 0, b = 0, c = 0;
  for (const Shape& shape : shapes_) {
    a = std::max(a, elements(shape, 0, 2));
    b = std::max(b, elements(shape, 2, 1));
    c = std::max(c, elements(shape, 0, 1));
  }
  const std::vector<float> contents[3] = {input(a, 7), input(b, 5), std::vector<float>(c)};
  for (std::size_t i = 0; i < 3; ++i) {
    buffers_[i] = required(device_->allocate(contents[i].size() * sizeof(float)));
    require(device_->write(*buffers_[i], 0, test::bytes_of(contents[i])));
  }
  a_ = memory_object(*buffers_[0]);
  b_ = memory_object(*buffers_[1]);
  c_ = memory_object(*buffers_[2]);
}

void Contest::launch_raw(std::size_t i) {
  for (std::size_t n = 0; n < launches_; ++n) enqueue_raw(i);
}

void Contest::enqueue_raw(std::size_t i) {
  const opencl::Api& cl = *api_;
  const RawLaunch& launch = raw_launches_[i];
  cl_int error = CL_SUCCESS;
  error |= cl.SetKernelArg(kernel_, 0, sizeof launch.m, &launch.m);
  error |= cl.SetKernelArg(kernel_, 1, sizeof launch.n, &launch.n);
  error |= cl.SetKernelArg(kernel_, 2, sizeof launch.k, &launch.k);
  error |= cl.SetKernelArg(kernel_, 3, sizeof a_, &a_);
  error |= cl.SetKernelArg(kernel_, 4, sizeof b_, &b_);
  error |= cl.SetKernelArg(kernel_, 5, sizeof c_, &c_);
  error |= cl.SetKernelArg(kernel_, 6, sizeof kAlpha, &kAlpha);
  error |= cl.SetKernelArg(kernel_, 7, sizeof kBeta, &kBeta);
  error |= cl.EnqueueNDRangeKernel(queue_, kernel_, launch.range.dimensions, nullptr,
                                   launch.range.global.data(), launch.range.local.data(), 0,
                                   nullptr, nullptr);
  require_success(error, "raw launch");
}

void Contest::launch_idletune(std::size_t i) {
  if (Status status = tuned_->launch(shapes_[i], a_, b_, c_, kAlpha, kBeta); !status.ok()) {
    require(status);
  }
}

void Contest::tune(std::size_t i) {
  launch_idletune(i);
  tuned_->expect_launches(shapes_[i], 1e9);
  const auto end = std::chrono::steady_clock::now() + kTuningPatience;
  while (required(tuned_->explain(shapes_[i])).selection != Selection::tuned) {
    (void)agent_->tune_now(std::chrono::milliseconds(500));
    if (std::chrono::steady_clock::now() < end) continue;
    throw std::runtime_error("nothing was adopted (trials: " + agent_->status().trials.to_string() +
                             ")");
  }
}

void Contest::finish() { require_success(api_->Finish(queue_), "clFinish"); }

void Contest::reset_output(std::size_t i) {
  const std::vector<float> old(elements(shapes_[i], 0, 1), kOldOutput);
  require(device_->write(*buffers_[2], 0, test::bytes_of(old)));
}

std::vector<float> Contest::read_output(std::size_t i) {
  finish();
  std::vector<float> output(elements(shapes_[i], 0, 1));
  require(device_->read(
      *buffers_[2], 0,
      {reinterpret_cast<std::uint8_t*>(output.data()), output.size() * sizeof(float)}));
  return output;
}

std::vector<float> Contest::output_raw(std::size_t i) {
  reset_output(i);
  launch_raw(i);
  return read_output(i);
}

std::vector<float> Contest::output_idletune(std::size_t i) {
  reset_output(i);
  launch_idletune(i);
  return read_output(i);
}

}  // namespace idletune::bench
