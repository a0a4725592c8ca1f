// A device that computes nothing: every number is 0. It checks that what is copied lies inside its
// buffers and that launches are ones that a driver takes.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>

#include <idletune/device.hpp>

#include "tests/device_queue.hpp"

namespace idletune::test {

// Addresses from its own on are nobody else's.
class IdleBuffer final : public Buffer {
 public:
  explicit IdleBuffer(std::size_t bytes) : bytes_(bytes), address_(next()) {
    next() += bytes + 4096;
    sizes()[address_] = bytes;
  }
  IdleBuffer(const IdleBuffer&) = delete;
  ~IdleBuffer() override { sizes().erase(address_); }
  std::size_t size_bytes() const override { return bytes_; }
  Argument argument() const override { return {reinterpret_cast<void*>(address_)}; }
  static std::size_t size_of(const Argument& argument) {
    std::uintptr_t address = 0;
    std::memcpy(&address, argument.data(), sizeof address);
    return sizes().count(address) > 0 ? sizes()[address] : 0;
  }

 private:
  static std::uintptr_t& next() {
    static std::uintptr_t address = 4096;
    return address;
  }
  static std::map<std::uintptr_t, std::size_t>& sizes() {
    static std::map<std::uintptr_t, std::size_t> all;
    return all;
  }
  std::size_t bytes_;
  std::uintptr_t address_;
};

inline Status inside(const Buffer& buffer, std::size_t offset, std::size_t bytes) {
  if (offset <= buffer.size_bytes() && bytes <= buffer.size_bytes() - offset) return {};
  return {StatusCode::device_error, "% bytes at % of % are copied", bytes, offset,
          buffer.size_bytes()};
}

class IdleProgram final : public Program {
 public:
  IdleProgram(const DeviceInfo& info, std::size_t& launches) : info_(info), launches_(launches) {}
  Result<std::unique_ptr<Program>> another(std::string_view) const override {
    return std::unique_ptr<Program>(new IdleProgram(info_, launches_));
  }
  std::uint32_t lanes() const override { return 64; }
  std::uint64_t max_work_group_size() const override { return 1024; }
  std::uint64_t local_memory_bytes() const override { return 0; }
  Status enqueue(std::uint32_t, const Range& range, Span<const Argument>, const LaunchOptions&,
                 void** profile) override {
    if (profile != nullptr) *profile = nullptr;
    ++launches_;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t groups = range.global[axis] / range.local[axis];
      if (groups * range.local[axis] == range.global[axis] && groups > 0 &&
          groups <= info_.max_groups[axis])
        continue;
      return {StatusCode::device_error, "% work items in groups of %", range.global[axis],
              range.local[axis]};
    }
    return {};
  }

 private:
  const DeviceInfo& info_;
  std::size_t& launches_;
};

class IdleDevice final : public Device {
 public:
  explicit IdleDevice(const DeviceInfo& info) : info_(info) {}
  std::size_t launches = 0;
  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<Program>> compile(const CompileRequest&) override {
    return std::unique_ptr<Program>(new IdleProgram(info_, launches));
  }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    return std::unique_ptr<Buffer>(new IdleBuffer(bytes));
  }
  Status check_buffer(const Argument& argument, std::uint64_t bytes) const override {
    if (bytes <= IdleBuffer::size_of(argument)) return {};
    return {StatusCode::invalid_argument, "% bytes, expected %", IdleBuffer::size_of(argument),
            bytes};
  }
  Status write(Buffer& buffer, std::size_t offset, Bytes data) override {
    return inside(buffer, offset, data.size());
  }
  Status read(const Buffer& buffer, std::size_t offset, MutableBytes data) override {
    std::memset(data.data(), 0, data.size());
    return inside(buffer, offset, data.size());
  }
  Status order(void*, void*) override { return {}; }
  Result<RunTimes> run(Program& program, const Range& range, Span<const Argument> arguments,
                       Nanoseconds) override {
    if (Status ran = program.enqueue(0, range, arguments, {}, nullptr); !ran.ok()) return ran;
    return RunTimes{};
  }
  Result<Nanoseconds> elapsed(void*) override {
    return Status(StatusCode::unsupported, "nothing is timed");
  }
  Nanoseconds now() const override { return Nanoseconds(0); }

 private:
  DeviceInfo info_;
};

class IdleQueue final : public DeviceQueue {
 public:
  using DeviceQueue::DeviceQueue;
  Status copy(const Buffer& from, std::size_t from_offset, Buffer& to, std::size_t to_offset,
              std::size_t bytes) override {
    Status status = inside(from, from_offset, bytes);
    return status.ok() ? inside(to, to_offset, bytes) : status;
  }
};

}  // namespace idletune::test
