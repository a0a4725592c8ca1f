// The application that `idletune demo` plays: frames of several matrix multiplications.
#pragma once

#include "agent/host/report/common.hpp"

#include <idletune/agent.hpp>
#include <idletune/application_queue.hpp>
#include <idletune/device.hpp>

namespace idletune::cli {

// What one frame took, as the application sees it.
struct FrameTimes {
  Nanoseconds busy{0};                // from the first launch until every result is there
  std::vector<Nanoseconds> launches;  // CPU time of each launch() call
};

// The value below which that share of them is; 0 of none.
Nanoseconds percentile(std::vector<Nanoseconds> times, double share);

// What the frames of one phase took.
struct Phase {
  std::vector<Nanoseconds> busy;
  std::vector<Nanoseconds> launches;
  Nanoseconds total{0};
  void add(const FrameTimes& frame);
  Nanoseconds median() const { return percentile(busy, 0.5); }
};

// Owns the problems' buffers on one device of open_device. One thread.
class DemoApplication {
 public:
  static constexpr std::size_t kLaunchesPerFrame = 8;  // of each problem: layers of the same size

  // Errors: those of allocating and filling buffers, and of queue_of.
  static Result<std::unique_ptr<DemoApplication>> create(Device& device);
  ~DemoApplication();

  const std::vector<Shape>& shapes() const { return shapes_; }
  // Launches every problem kLaunchesPerFrame times through `kernel` and waits for all of them.
  Result<FrameTimes> frame(TunedKernel& kernel);

 private:
  struct Problem;
  explicit DemoApplication(std::unique_ptr<ApplicationQueue> queue);
  void add_problem(const Shape& shape);

  std::unique_ptr<ApplicationQueue> queue_;
  std::vector<Shape> shapes_;
  std::vector<std::unique_ptr<Problem>> problems_;
};

}  // namespace idletune::cli
