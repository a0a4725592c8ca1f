#include "tests/bench/tuning_loop/application.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <idletune/options.hpp>

#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "tests/bench/required.hpp"
#include "tests/paths.hpp"

namespace idletune::bench {
namespace {

void require_success(cl_int error, const char* call) {
  if (error != CL_SUCCESS) require(opencl::to_status(error, call));
}

}  // namespace

std::vector<std::uint8_t> blur_package() {
  return required(
      pack(required(read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/tests/bench/tuning_loop/blur.xml"))));
}

Workplace::Workplace(bool profiled_queue) {
  opencl::OpenOptions options;
  options.library = environment_opencl_library();
  api_ = required(opencl::load(options.library));
  const std::unique_ptr<Device> opened = required(opencl::open(0, options));
  auto device = static_cast<cl_device_id>(opencl::handles(*opened).device);
  cl_int error = CL_SUCCESS;
  context_ = api_->CreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  require_success(error, "clCreateContext");
  queue_ = api_->CreateCommandQueue(context_, device,
                                    profiled_queue ? CL_QUEUE_PROFILING_ENABLE : 0, &error);
  require_success(error, "clCreateCommandQueue");
  device_ = required(opencl::adopt(context_, device, queue_, options));
  const auto height = static_cast<std::size_t>(kShape[0]);
  const auto width = static_cast<std::size_t>(kShape[1]);
  std::vector<float> image((height + 4) * (width + 4));
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 251) / 251.0f;
  in_ = required(device_->allocate(image.size() * sizeof(float)));
  out_ = required(device_->allocate(height * width * sizeof(float)));
  require(device_->write(
      *in_, 0,
      Bytes(reinterpret_cast<const std::uint8_t*>(image.data()), image.size() * sizeof(float))));
}

Workplace::~Workplace() {
  (void)api_->Finish(queue_);
  in_.reset();
  out_.reset();
  device_.reset();
  api_->ReleaseCommandQueue(queue_);
  api_->ReleaseContext(context_);
}

Nanoseconds Workplace::launches(TunedKernel& kernel, int count) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < count; ++i) {
    require(kernel.launch(kShape, in_->argument(), out_->argument()));
  }
  require_success(api_->Finish(queue_), "clFinish");
  return Clock::now() - start;
}

void in_a_process(const std::string& name, const std::function<void()>& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    const int failed = ended(name.c_str(), [&] {
      work();
      return 0;
    });
    std::fflush(stdout);
    std::_Exit(failed);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) {
    throw std::runtime_error(name + " failed");
  }
}

}  // namespace idletune::bench
