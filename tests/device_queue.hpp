// An application's queue on a device double, where everything is done when it returns; copies are the
// double's own.
#pragma once

#include <memory>

#include <idletune/application_queue.hpp>

namespace idletune::test {

class DeviceQueue : public ApplicationQueue {
 public:
  explicit DeviceQueue(Device& device) : device_(device) {}
  void* handle() const override { return nullptr; }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    return device_.allocate(bytes);
  }
  Status write(Buffer& to, std::size_t offset, Bytes data) override {
    return device_.write(to, offset, data);
  }
  Status read(const Buffer& from, std::size_t offset, MutableBytes data) override {
    return device_.read(from, offset, data);
  }
  Status wait() override { return {}; }

 private:
  Device& device_;
};

}  // namespace idletune::test
