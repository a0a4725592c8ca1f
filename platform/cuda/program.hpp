// A compiled CUDA kernel function.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <idletune/device.hpp>

#include "platform/cuda/session.hpp"

namespace idletune::cuda {

// Lanes cost nothing here: a launch carries its arguments along, so that any number of threads may
// launch one kernel at the same time.
class CudaProgram final : public Program {
 public:
  // Loads a cubin, or PTX that ends with a NUL. Errors: compile_error (the driver refuses the
  // image, or it has no such kernel), out_of_memory, device_error.
  static Result<std::unique_ptr<CudaProgram>> load(std::shared_ptr<Session> session,
                                                   const std::vector<std::uint8_t>& image,
                                                   const std::string& entry, std::uint32_t lanes);
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;

  Status enqueue(std::uint32_t lane, const Range& range, Span<const Argument> arguments,
                 const LaunchOptions& options, void** profile) override;
  std::uint32_t lanes() const override { return lanes_; }
  std::uint64_t max_work_group_size() const override { return max_work_group_size_; }
  std::uint64_t local_memory_bytes() const override { return local_memory_bytes_; }
  Result<std::unique_ptr<Program>> another(std::string_view entry) const override;

  // A launch on `stream`; the session's context must be current. Errors: invalid_argument (sizes or
  // arguments that do not fit the kernel), device_error.
  Status launch(StreamHandle stream, const Range& range, Span<const Argument> arguments);

 private:
  // Unloaded with the last of its kernel functions.
  struct Module {
    ~Module();  // waits until no launch uses it any more (the driver does)
    std::shared_ptr<Session> session;
    ModuleHandle handle;
    mutable std::atomic<bool> captured{false};  // some launch, into a graph
  };
  explicit CudaProgram(std::shared_ptr<const Module> module)
      : module_(std::move(module)), session_(module_->session) {}
  Status find_kernel(const std::string& entry);
  void read_parameters();
  Status check_arguments(Span<const Argument> arguments) const;
  ProfileTicket* ticket_for(StreamHandle stream) const;
  Status hand_out(EventHandle event, StreamHandle stream, Status launched,
                  const LaunchOptions& options);

  std::shared_ptr<const Module> module_;
  std::shared_ptr<Session> session_;
  FunctionHandle function_ = nullptr;
  std::uint32_t lanes_ = 0;
  std::uint64_t max_work_group_size_ = 0;
  std::uint64_t local_memory_bytes_ = 0;
  bool knows_parameters_ = false;
  std::vector<std::size_t> parameter_bytes_;
};

}  // namespace idletune::cuda
