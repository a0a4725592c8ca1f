// An application as users have it: a camera's loop that blurs a few images per frame and then has
// nothing to do until the next one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/opencl.hpp>

#include "platform/opencl/loader.hpp"

namespace idletune::bench {

using Clock = std::chrono::steady_clock;

inline const Shape kShape{360, 480};
constexpr int kLaunchesPerFrame = 4;
constexpr Nanoseconds kFrame = std::chrono::milliseconds(33);

// A context, a queue with or without profiling, and two images. Throws std::runtime_error.
class Workplace {
 public:
  explicit Workplace(bool profiled_queue);
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  Device& device() { return *device_; }
  // The kernel's launches of one frame, waited for; how long they took.
  Nanoseconds frame(TunedKernel& kernel) { return launches(kernel, kLaunchesPerFrame); }
  // One launch, waited for.
  Nanoseconds launch(TunedKernel& kernel) { return launches(kernel, 1); }

 private:
  Nanoseconds launches(TunedKernel& kernel, int count);

  std::shared_ptr<const opencl::Api> api_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::unique_ptr<Device> device_;  // adopts the queue
  std::unique_ptr<Buffer> in_, out_;
};

std::vector<std::uint8_t> blur_package();

// Does the work in a process of its own; throws where it throws, what is said there.
void in_a_process(const std::string& name, const std::function<void()>& work);

}  // namespace idletune::bench
