// The device double: nothing runs, and whoever plays says what becomes of every compilation, run
// and launch, and how long it takes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/device.hpp>

namespace idletune::lives {

// The values of the kernel's parameters A and B.
struct Values {
  std::int64_t a = 0, b = 0;
};

// A step of an application's launch.
struct Enqueued {
  Values values;
  std::string_view entry;
  const void* first = nullptr;  // of its arguments, and the one after it
  const void* second = nullptr;
  std::size_t items = 0;
};

class PlayedDevice final : public Device {
 public:
  explicit PlayedDevice(std::string driver);

  std::function<Status(Values)> on_compile;           // for launches, in this process
  std::function<Status(Values, Nanoseconds)> on_run;  // of the tuner's own, with its deadline
  std::function<Result<Nanoseconds>(const Enqueued&)> on_launch;  // any played thread
  std::function<Status()> on_order;                               // among queues
  bool profiling = true;

  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override;
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override;
  Status write(Buffer& buffer, std::size_t offset, Bytes data) override;
  Status read(const Buffer& buffer, std::size_t offset, MutableBytes data) override;
  Status copy_out(const Argument& buffer, MutableBytes data) override;
  Result<RunTimes> run(Program& program, const Range& range, Span<const Argument> arguments,
                       Nanoseconds deadline) override;
  Status order(void* before, void* then) override;
  Status order_after(void* mark, void* before, void* then) override;
  Result<Nanoseconds> elapsed(void* profile) override;
  Status usable() const override;
  Nanoseconds now() const override { return Nanoseconds{0}; }

 private:
  class PlayedProgram;
  DeviceInfo info_;
  bool lost_ = false;  // a run never ended
};

}  // namespace idletune::lives
