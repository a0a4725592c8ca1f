// Device memory of a CUDA context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <idletune/device.hpp>

#include "platform/cuda/session.hpp"

namespace idletune::cuda {

class CudaBuffer final : public Buffer {
 public:
  enum class Ownership : std::uint8_t { own, window };

  CudaBuffer(std::shared_ptr<Session> session, DeviceAddress address, std::size_t size_bytes,
             Ownership ownership)
      : session_(std::move(session)),
        address_(address),
        size_bytes_(size_bytes),
        ownership_(ownership) {}
  ~CudaBuffer() override {
    if (ownership_ == Ownership::window || session_->lost()) return;
    const ContextScope scope(*session_);
    if (scope.error() == kSuccess) (void)session_->driver->MemFree(address_);
  }
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;
  std::size_t size_bytes() const override { return size_bytes_; }
  Argument argument() const override {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address_));
  }
  DeviceAddress address() const { return address_; }

 private:
  std::shared_ptr<Session> session_;
  DeviceAddress address_;
  std::size_t size_bytes_;
  Ownership ownership_;
};

inline DeviceAddress address_of(const Buffer& buffer) {
  return static_cast<const CudaBuffer&>(buffer).address();
}

// Errors: invalid_argument (no bytes), out_of_memory, device_error.
Result<std::unique_ptr<Buffer>> allocate_buffer(const std::shared_ptr<Session>& session,
                                                std::size_t bytes);
// Null for devices of another back end.
std::shared_ptr<Session> session_of(Device& device);

}  // namespace idletune::cuda
