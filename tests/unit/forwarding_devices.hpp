// Devices that are another one but for what a test says.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <idletune/device.hpp>

namespace idletune::test {

class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(Device& device) : device_(device), info_(device.info()) {}
  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override {
    return device_.compile(request);
  }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    return device_.allocate(bytes);
  }
  Status check_buffer(const Argument& argument, std::uint64_t bytes) const override {
    return device_.check_buffer(argument, bytes);
  }
  Status write(Buffer& buffer, std::size_t offset, Bytes data) override {
    return device_.write(buffer, offset, data);
  }
  Status read(const Buffer& buffer, std::size_t offset, MutableBytes data) override {
    return device_.read(buffer, offset, data);
  }
  Result<RunTimes> run(Program& program, const Range& range, Span<const Argument> arguments,
                       Nanoseconds deadline) override {
    return device_.run(program, range, arguments, deadline);
  }
  Status order(void* before, void* then) override { return device_.order(before, then); }
  Result<Nanoseconds> elapsed(void* profile) override { return device_.elapsed(profile); }
  void discard(void* profile) override { device_.discard(profile); }
  Nanoseconds now() const override { return device_.now(); }

 protected:
  Device& device_;
  DeviceInfo info_;
};

// It counts groups along the second axis: no test needs 65,535 of them.
class NarrowDevice final : public ForwardingDevice {
 public:
  NarrowDevice(Device& device, std::uint64_t groups) : ForwardingDevice(device) {
    info_.max_groups = {0, groups, 0};
  }
};

// Its compiler takes one text for another.
class MisreadingDevice final : public ForwardingDevice {
 public:
  MisreadingDevice(Device& device, std::string text, std::string as)
      : ForwardingDevice(device), text_(std::move(text)), as_(std::move(as)) {}
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override {
    std::string source(request.source);
    const std::size_t at = source.find(text_);
    if (at != std::string::npos) source.replace(at, text_.size(), as_), ++misread;
    CompileRequest changed = request;
    changed.source = source;
    return device_.compile(changed);
  }
  int misread = 0;

 private:
  std::string text_, as_;
};

}  // namespace idletune::test
