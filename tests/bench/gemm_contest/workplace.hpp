// The application of the contest: an OpenCL device, and the matrices of one product at a time.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/gemm.hpp>

namespace idletune::bench {

// op(A) is m x k, op(B) k x n; row-major and dense.
struct Size {
  std::size_t m = 0, n = 0, k = 0;
  bool turned_a = false, turned_b = false;

  std::string text() const;  // "64 x 3136 x 147", " T" behind a factor that is transposed
  double operations() const { return 2.0 * static_cast<double>(m * n * k); }
};

// The first OpenCL device there is.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  cl_device_id device() const { return device_; }
  cl_command_queue* queue() { return &queue_; }
  std::unique_ptr<Device> adopted();

  // Random matrices of that product, in place of those before.
  void take(const Size& size);
  // C = A B, waited for.
  void openblas();
  void clblast();
  void idletune(Gemm& gemm);
  Product product() const;
  // The largest difference of what is on the device from what openblas() found last.
  float difference();

 private:
  cl_mem upload(const std::vector<float>& values);
  void release();

  Size size_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::vector<float> a_, b_, c_;
  cl_mem device_a_ = nullptr, device_b_ = nullptr, device_c_ = nullptr;
};

}  // namespace idletune::bench
