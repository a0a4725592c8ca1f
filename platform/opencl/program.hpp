// A compiled OpenCL kernel function: one kernel object per lane, and one more for the tuner.
#pragma once

#include <memory>
#include <vector>

#include <idletune/device.hpp>

#include "platform/opencl/session.hpp"

namespace idletune::opencl {

class OpenclProgram final : public Program {
 public:
  // Builds `program` (whose reference it takes, also on failure) for the session's device and makes
  // the kernels. Errors: compile_error (with the first lines of the build log), unsupported (no
  // compiler), out_of_memory.
  static Result<std::unique_ptr<OpenclProgram>> build(std::shared_ptr<Session> session,
                                                      cl_program program,
                                                      const CompileRequest& request);
  ~OpenclProgram() override;
  OpenclProgram(const OpenclProgram&) = delete;
  OpenclProgram& operator=(const OpenclProgram&) = delete;

  Status enqueue(std::uint32_t lane, const Range& range, Span<const Argument> arguments,
                 const LaunchOptions& options, void** profile) override;
  std::uint32_t lanes() const override { return lanes_; }
  std::uint64_t max_work_group_size() const override { return max_work_group_size_; }
  std::uint64_t local_memory_bytes() const override { return local_memory_bytes_; }

  // The tuner's launch on the tuning queue, with a kernel of its own: no lane is touched. The
  // caller releases `event`.
  Status enqueue_tuning(const Range& range, Span<const Argument> arguments, cl_event* event);
  // The driver's binary for the session's device; empty where it gives none.
  std::vector<std::uint8_t> binary() const override;
  Result<std::unique_ptr<Program>> another(std::string_view entry) const override;

 private:
  // The driver's program, released with the last of its kernel functions.
  struct Built {
    ~Built();
    std::shared_ptr<Session> session;
    cl_program program;
  };
  explicit OpenclProgram(std::shared_ptr<const Built> built)
      : built_(std::move(built)), session_(built_->session) {}
  Status create_kernels(const std::string& entry, std::uint32_t lanes);
  // `which`: of kernels_.
  Status launch(std::size_t which, cl_command_queue queue, const Range& range,
                Span<const Argument> arguments, const LaunchOptions& options, cl_event* event);

  std::shared_ptr<const Built> built_;
  std::shared_ptr<Session> session_;
  std::vector<cl_kernel> kernels_;  // one per lane, then the tuner's
  // What each kernel's arguments were set to last, `arguments_` of each; scalars that are the same
  // are not set again. Buffers are: a handle may be another buffer's by now.
  std::unique_ptr<Argument[]> set_;
  std::size_t arguments_ = 0;
  std::uint32_t lanes_ = 0;
  std::uint64_t max_work_group_size_ = 0;
  std::uint64_t local_memory_bytes_ = 0;
};

}  // namespace idletune::opencl
