// What stands for a device where the application makes its calls itself: nothing is compiled or
// run, launching says which configuration a call runs with, and the application tells the times.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>

#include "agent/trial/trial.hpp"

namespace idletune::detail {

// Calls that have begun and whose times may be asked for: the last kRoom of them. Any number of
// threads; nobody waits.
class OpenCalls {
 public:
  static constexpr std::uint64_t kRoom = 64;
  static constexpr std::int64_t kUntimed = (std::int64_t{1} << 44) - 1;  // nanoseconds: 4.8 hours
  static bool is_time(Nanoseconds time) { return time.count() > 0 && time.count() < kUntimed; }

  std::uint64_t begin();  // the call's number, more than 0
  // `time`: 0: it tells none. False: it has ended already, or others have taken its place.
  bool end(std::uint64_t number, Nanoseconds time);
  // Errors as Device::elapsed.
  Result<Nanoseconds> time(std::uint64_t number) const;

 private:
  // The number's upper part above the time: 0 while it runs.
  static std::uint64_t word(std::uint64_t number, std::int64_t time) {
    return number / kRoom << 44 | static_cast<std::uint64_t>(time);
  }

  std::array<std::atomic<std::uint64_t>, kRoom> words_{};
  std::atomic<std::uint64_t> next_{kRoom};
};

// What Program::enqueue fills in where LaunchOptions::event points to it.
struct CallBegun {
  Configuration configuration;
  std::uint64_t number = 0;
};

class CalledDevice : public Device {
 public:
  // `runs_on`: CallDescription's.
  explicit CalledDevice(const std::string& runs_on);

  const DeviceInfo& info() const override { return info_; }
  // The configuration is that of the request's options, in their order.
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override;
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override;
  Status write(Buffer& buffer, std::size_t offset, Bytes data) override;
  Status read(const Buffer& buffer, std::size_t offset, MutableBytes data) override;
  Result<RunTimes> run(Program& program, const Range& range, Span<const Argument> arguments,
                       Nanoseconds deadline) override;
  Result<Nanoseconds> elapsed(void* profile) override;
  Nanoseconds now() const override;

  OpenCalls& calls() { return calls_; }

 private:
  DeviceInfo info_;
  OpenCalls calls_;
};

// Stages come to a good end at once: whether a configuration is right and fast its calls will tell.
class CallTrials : public TrialRunner {
 public:
  Status start(const TrialRequest& request) override;
  bool poll(Nanoseconds wait, TrialOutcome& outcome) override;
  bool isolated() const override { return false; }
  bool poisoned() const override { return false; }

 private:
  bool runs_ = false;
  TrialStage stage_ = TrialStage::compile;
};

}  // namespace idletune::detail
