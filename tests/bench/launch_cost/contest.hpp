// The two contestants: the same GEMM, launched through the agent and through the raw OpenCL calls,
// on the same device, queue and buffers, with the same eight arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/device.hpp>

#include "models/package/package_specs.hpp"
#include "platform/opencl/loader.hpp"

namespace idletune::bench {

struct ContestOptions {
  std::string library;  // path of the OpenCL library; empty: the usual ones
  std::uint32_t device_index = 0;
  bool profiled_queue =
      false;  // the application's queue records profiles (the production watch runs)
  bool nothing_to_tune = true;  // the kernel's space holds the default configuration alone
  std::size_t max_shapes = 64;  // of the agent
  std::size_t launches = 1;     // that a variant consists of: 1, or at least 3 with scratch
  bool prepared = true;         // each shape, where its variants are several launches
  std::vector<Shape> shapes;    // M, N, K each
};

// One launch as an application that wrote it by hand would have it.
struct RawLaunch {
  cl_int m, n, k;
  Range range;
};

class Contest {
 public:
  // Throws std::runtime_error with one line that tells what failed.
  explicit Contest(const ContestOptions& options);
  ~Contest();
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  // One launch of the i-th shape, of all that a variant consists of. Throws if it is refused.
  void launch_raw(std::size_t i);
  void launch_idletune(std::size_t i);
  void finish();

  // What the kernel makes of C = 0.25 for the i-th shape. Throws.
  std::vector<float> output_raw(std::size_t i);
  std::vector<float> output_idletune(std::size_t i);

  std::size_t shape_count() const { return shapes_.size(); }
  const opencl::Api& api() const { return *api_; }
  Device& device() { return *device_; }
  Agent& agent() { return *agent_; }
  // Tunes the i-th shape until something is adopted for it. Throws if nothing is.
  void tune(std::size_t i);

 private:
  void open_device(const ContestOptions& options);
  void make_raw_kernel(const KernelPackage& package);
  void make_buffers();
  void enqueue_raw(std::size_t i);
  void reset_output(std::size_t i);
  std::vector<float> read_output(std::size_t i);

  std::vector<Shape> shapes_;
  std::size_t launches_;
  std::vector<RawLaunch> raw_launches_;
  std::shared_ptr<const opencl::Api> api_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::unique_ptr<Device> device_;  // adopts the queue
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  std::unique_ptr<Buffer> buffers_[3];
  cl_mem a_ = nullptr, b_ = nullptr, c_ = nullptr;
  std::unique_ptr<Agent> agent_;
  std::unique_ptr<TunedKernel> tuned_;
};

}  // namespace idletune::bench
