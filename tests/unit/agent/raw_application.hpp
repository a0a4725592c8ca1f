// An application that owns its OpenCL handles, as real ones do, and lets the agent adopt them. What
// it does with them is safe beside tuning, since OpenCL's own calls are. Errors are exceptions.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

#include <idletune/opencl.hpp>

#include "platform/opencl/loader.hpp"

namespace idletune::test {

class RawApplication {
 public:
  // `profiling`: of the queue that is adopted.
  explicit RawApplication(bool profiling) {
    Result<std::shared_ptr<const opencl::Api>> api = opencl::load("");
    if (!api.ok()) throw std::runtime_error(api.status().to_string());
    api_ = *api;
    auto first = opencl::open(0);
    if (!first.ok()) throw std::runtime_error(first.status().to_string());
    auto* device = static_cast<cl_device_id>(opencl::handles(**first).device);
    cl_int error = CL_SUCCESS;
    context_ = api_->CreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    expect(error, "clCreateContext");
    queue_ = api_->CreateCommandQueue(context_, device, profiling ? CL_QUEUE_PROFILING_ENABLE : 0,
                                      &error);
    expect(error, "clCreateCommandQueue");
    auto adopted = opencl::adopt(context_, device, queue_);
    if (!adopted.ok()) throw std::runtime_error(adopted.status().to_string());
    adopted_ = std::move(*adopted);
  }
  RawApplication(const RawApplication&) = delete;
  RawApplication& operator=(const RawApplication&) = delete;
  ~RawApplication() {
    api_->Finish(queue_);
    for (cl_mem buffer : buffers_) api_->ReleaseMemObject(buffer);
    adopted_.reset();
    api_->ReleaseCommandQueue(queue_);
    api_->ReleaseContext(context_);
  }

  Device& device() { return *adopted_; }  // outlives every agent that it is given to
  cl_mem buffer(const std::vector<float>& content) {
    cl_int error = CL_SUCCESS;
    cl_mem made = api_->CreateBuffer(context_, CL_MEM_READ_WRITE, content.size() * sizeof(float),
                                     nullptr, &error);
    expect(error, "clCreateBuffer");
    buffers_.push_back(made);
    write(made, content);
    return made;
  }
  void write(cl_mem buffer, const std::vector<float>& content) {
    expect(api_->EnqueueWriteBuffer(queue_, buffer, CL_TRUE, 0, content.size() * sizeof(float),
                                    content.data(), 0, nullptr, nullptr),
           "clEnqueueWriteBuffer");
  }
  // Waits for the launches before it.
  std::vector<float> read(cl_mem buffer, std::size_t size) {
    std::vector<float> content(size);
    expect(api_->EnqueueReadBuffer(queue_, buffer, CL_TRUE, 0, size * sizeof(float), content.data(),
                                   0, nullptr, nullptr),
           "clEnqueueReadBuffer");
    return content;
  }
  void finish() { expect(api_->Finish(queue_), "clFinish"); }

 private:
  static void expect(cl_int error, const char* call) {
    if (error != CL_SUCCESS) throw std::runtime_error(opencl::to_status(error, call).to_string());
  }
  std::shared_ptr<const opencl::Api> api_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::vector<cl_mem> buffers_;
  std::unique_ptr<Device> adopted_;
};

}  // namespace idletune::test
