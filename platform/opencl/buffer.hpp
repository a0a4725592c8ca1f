// Device memory of an OpenCL context.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include <idletune/device.hpp>

#include "platform/opencl/session.hpp"

namespace idletune::opencl {

inline cl_mem memory_of(const Buffer& buffer) {
  const Argument argument = buffer.argument();
  cl_mem memory = nullptr;
  std::memcpy(&memory, argument.data(), sizeof memory);
  return memory;
}

class OpenclBuffer final : public Buffer {
 public:
  OpenclBuffer(std::shared_ptr<Session> session, cl_mem memory, std::size_t size_bytes)
      : session_(std::move(session)), memory_(memory), size_bytes_(size_bytes) {}
  ~OpenclBuffer() override {
    if (!session_->poisoned.load()) session_->api->ReleaseMemObject(memory_);
  }
  OpenclBuffer(const OpenclBuffer&) = delete;
  OpenclBuffer& operator=(const OpenclBuffer&) = delete;
  std::size_t size_bytes() const override { return size_bytes_; }
  Argument argument() const override { return memory_; }

 private:
  std::shared_ptr<Session> session_;
  cl_mem memory_;
  std::size_t size_bytes_;
};

// Errors: invalid_argument (no bytes), out_of_memory.
Result<std::unique_ptr<Buffer>> allocate_buffer(const std::shared_ptr<Session>& session,
                                                std::size_t bytes);
// Null for devices of another back end.
std::shared_ptr<Session> session_of(Device& device);

}  // namespace idletune::opencl
