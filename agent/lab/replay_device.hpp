// A device that plays a table of measurements back under a virtual clock. It runs no code.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "agent/lab/measurement_table.hpp"
#include "models/core/random.hpp"

namespace idletune::replay {

struct ReplayOptions {
  std::uint64_t seed = 1;             // choice among a configuration's samples
  Nanoseconds start{0};               // of the virtual clock
  Nanoseconds launch_overhead{5000};  // wall time of a run besides the device's
  double copy_bytes_per_ns = 4.0;     // read and write advance the clock by size / this; 0: free
  Nanoseconds hang_time{std::chrono::seconds(10)};  // a run of a `timeout` row takes this long
  Nanoseconds reference_run{std::chrono::milliseconds(1)};  // of a program that names no parameter
  // What a run of a `correctness` row does. True: it succeeds and inverts every byte of its buffer
  // arguments, for a check that reads buffers. False: it fails with `corrupt`, for a trial that
  // reads no outputs of a device that computes nothing.
  bool outputs_are_read = false;
};

// What a row's status does:
//   correct      compile takes compile_time; each run one of the samples, chosen by the seed
//   compile      compile fails with compile_error after compile_time
//   constraints  compile fails with invalid_argument after compile_time; so does a configuration
//                that is not in the table, at once
//   runtime      run fails with device_error
//   crash        run fails with device_error and the message "crash": the process does not die
//   timeout      run takes hang_time, or until the deadline, and fails with timeout
//   correctness  see ReplayOptions::outputs_are_read
// A row with a status other than `correct` and with samples takes one of them before it fails (not
// for `timeout`). A run that would outlive its deadline fails with timeout at the deadline; a
// deadline that is not positive is none.
//
// Which row a program is, is read from its compile options: `-DNAME=value` (or `-D NAME=value`) for
// every parameter of the table; other options are ignored, of a repeated one the last counts.
// Options that name none of the parameters are those of a reference kernel: it compiles at once and
// runs in `reference_run`. Programs stay valid after the device is gone only for destruction.
//
// A correct run leaves all buffers as they are, since it computes nothing. Buffers are host memory;
// their Argument holds the Buffer*. All time goes to the virtual clock that now() reads, nothing
// depends on real time: the same seed and calls give the same results on every machine. An
// application's enqueue takes its time at once (the queue is never ahead of the clock). One thread.
class ReplayDevice final : public Device {
 public:
  // The table must outlive the device.
  explicit ReplayDevice(const MeasurementTable& table, const ReplayOptions& options = {});
  ReplayDevice(const ReplayDevice&) = delete;
  ReplayDevice& operator=(const ReplayDevice&) = delete;

  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override;
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override;
  Status write(Buffer& buffer, std::size_t offset, Bytes data) override;
  Status read(const Buffer& buffer, std::size_t offset, MutableBytes data) override;
  Result<RunTimes> run(Program& program, const Range& range, Span<const Argument> arguments,
                       Nanoseconds deadline) override;
  Result<Nanoseconds> elapsed(void* profile) override;
  void discard(void* profile) override;
  Nanoseconds now() const override { return now_; }

  // Lets virtual time pass (the application does something else).
  void advance(Nanoseconds duration);
  // The configuration that `options` name; an empty one if they name none of the parameters.
  // invalid_argument if some are missing or a value is no integer.
  Result<Configuration> parse_options(std::string_view options) const;

 private:
  friend class ReplayProgram;
  Result<RunTimes> play(const TableEntry& entry, Span<const Argument> arguments,
                        Nanoseconds deadline);
  Nanoseconds choose_sample(const TableEntry& entry);
  void copy_time(std::size_t bytes);

  const MeasurementTable& table_;
  ReplayOptions options_;
  DeviceInfo info_;
  Random random_;
  Nanoseconds now_;
};

}  // namespace idletune::replay
