// The device double of solvers: it computes what their kernels would, in the order of the launches, and
// whoever plays says what becomes of compilations and products, and how long everything takes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <idletune/device.hpp>

#include "kernels/krylov/kernel_marks.hpp"
#include "tests/device_queue.hpp"

namespace idletune::lives {

struct SolverScript {
  std::function<Status(const krylov::ProductKernel&)> on_compile;
  // It runs; `y` is what it computed, which it may spoil.
  std::function<Status(const krylov::ProductKernel&, Span<double> y)> on_product;
  std::function<void()> on_other;  // another kernel runs
  // A fused step: whether it leaves an element of x as it was.
  std::function<Result<bool>()> on_step;
  std::function<void(std::size_t)> on_copy;  // of so many bytes
  std::function<Nanoseconds()> now;
};

class SolverDevice final : public Device {
 public:
  SolverDevice(const std::string& driver, SolverScript script);

  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override;
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override;
  Status write(Buffer& buffer, std::size_t offset, Bytes data) override;
  Status read(const Buffer& buffer, std::size_t offset, MutableBytes data) override;
  Result<RunTimes> run(Program&, const Range&, Span<const Argument>, Nanoseconds) override;
  Result<Nanoseconds> elapsed(void*) override;
  Nanoseconds now() const override { return script_.now(); }

 private:
  class SolverProgram;
  DeviceInfo info_;
  const SolverScript script_;
};

class SolverQueue final : public test::DeviceQueue {
 public:
  using DeviceQueue::DeviceQueue;
  Status copy(const Buffer& from, std::size_t from_offset, Buffer& to, std::size_t to_offset,
              std::size_t bytes) override;
};

}  // namespace idletune::lives
