#include <idletune/cuda.hpp>

#include <utility>

#include "platform/cuda/buffer.hpp"
#include "platform/request_checks.hpp"

namespace idletune::cuda {
namespace {

class CudaQueue final : public ApplicationQueue {
 public:
  explicit CudaQueue(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  void* handle() const override { return session_->application; }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    if (Status fit = session_->launchable(); !fit.ok()) return fit;
    return allocate_buffer(session_, bytes);
  }

  Status write(Buffer& to, std::size_t offset, Bytes data) override {
    Status fit = check_range(to, offset, data.size());
    if (!fit.ok() || data.empty()) return fit;
    const ContextScope scope(*session_, ContextScope::Purpose::launch);
    if (scope.error() != kSuccess) return scope.status();
    return session_->checked(driver().MemcpyHtoDAsync(address_of(to) + offset, data.data(),
                                                      data.size(), session_->application),
                             "cuMemcpyHtoDAsync");
  }

  Status read(const Buffer& from, std::size_t offset, MutableBytes data) override {
    Status fit = check_range(from, offset, data.size());
    if (!fit.ok() || data.empty()) return fit;
    const ContextScope scope(*session_, ContextScope::Purpose::launch);
    if (scope.error() != kSuccess) return scope.status();
    const Error error = driver().MemcpyDtoHAsync(data.data(), address_of(from) + offset,
                                                 data.size(), session_->application);
    if (error != kSuccess) return session_->checked(error, "cuMemcpyDtoHAsync");
    return wait_in_context();
  }

  Status copy(const Buffer& from, std::size_t from_offset, Buffer& to, std::size_t to_offset,
              std::size_t bytes) override {
    Status fit = check_range(from, from_offset, bytes);
    if (fit.ok()) fit = check_range(to, to_offset, bytes);
    if (!fit.ok() || bytes == 0) return fit;
    const ContextScope scope(*session_, ContextScope::Purpose::launch);
    if (scope.error() != kSuccess) return scope.status();
    return session_->checked(
        driver().MemcpyDtoDAsync(address_of(to) + to_offset, address_of(from) + from_offset, bytes,
                                 session_->application),
        "cuMemcpyDtoDAsync");
  }

  Status wait() override {
    const ContextScope scope(*session_, ContextScope::Purpose::launch);
    return scope.error() != kSuccess ? scope.status() : wait_in_context();
  }

 private:
  Status wait_in_context() const {
    return session_->checked(driver().StreamSynchronize(session_->application),
                             "cuStreamSynchronize");
  }
  const Driver& driver() const { return *session_->driver; }

  std::shared_ptr<Session> session_;
};

}  // namespace

Result<std::unique_ptr<ApplicationQueue>> application_queue(Device& device) {
  std::shared_ptr<Session> session = session_of(device);
  if (session == nullptr) {
    return {StatusCode::invalid_argument, "got a device of %, expected one of CUDA",
            device.info().backend};
  }
  return std::unique_ptr<ApplicationQueue>(new CudaQueue(std::move(session)));
}

}  // namespace idletune::cuda
