#include "agent/lab/replay_device.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <new>
#include <string>

namespace idletune::replay {
namespace {

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(std::size_t size_bytes)
      : bytes_(new (std::nothrow) std::uint8_t[size_bytes]()), size_bytes_(size_bytes) {}
  bool allocated() const { return bytes_ != nullptr; }
  std::size_t size_bytes() const override { return size_bytes_; }
  Argument argument() const override { return Argument(const_cast<HostBuffer*>(this)); }
  std::uint8_t* data() const { return bytes_.get(); }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_bytes_;
};

HostBuffer* buffer_of(const Argument& argument) {
  HostBuffer* buffer = nullptr;
  if (!argument.is_buffer()) return nullptr;
  std::memcpy(&buffer, argument.data(), sizeof buffer);
  return buffer;
}

void invert_buffers(Span<const Argument> arguments) {
  for (const Argument& argument : arguments) {
    HostBuffer* buffer = buffer_of(argument);
    if (buffer == nullptr) continue;
    std::uint8_t* const data = buffer->data();
    for (std::size_t i = 0; i < buffer->size_bytes(); ++i) {
      data[i] = static_cast<std::uint8_t>(~data[i]);
    }
  }
}

bool inside(const Buffer& buffer, std::size_t offset, std::size_t size) {
  return offset <= buffer.size_bytes() && size <= buffer.size_bytes() - offset;
}

Status out_of_range(const Buffer& buffer, std::size_t offset, std::size_t size) {
  return Status(StatusCode::invalid_argument, {"bytes ", offset, " to ", offset + size,
                                               " of a buffer of ", buffer.size_bytes(), " bytes"});
}

// The next definition ("NAME=value") of compiler options; advances `rest` past it. False at the
// end.
bool next_definition(std::string_view& rest, std::string_view& definition) {
  constexpr std::string_view kSpace = " \t\n";
  while (!rest.empty()) {
    const std::size_t start = rest.find_first_not_of(kSpace);
    if (start == std::string_view::npos) return false;
    rest.remove_prefix(start);
    const bool defines = rest.substr(0, 2) == "-D";
    if (defines) rest.remove_prefix(2);
    if (defines) rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
    const std::size_t end = std::min(rest.find_first_of(kSpace), rest.size());
    definition = rest.substr(0, end);
    rest.remove_prefix(end);
    if (defines) return true;
  }
  return false;
}

}  // namespace

class ReplayProgram final : public Program {
 public:
  ReplayProgram(ReplayDevice& device, const TableEntry& entry, std::uint32_t lanes)
      : device_(device), entry_(entry), lanes_(std::max<std::uint32_t>(1, lanes)) {}

  Status enqueue(std::uint32_t lane, const Range&, Span<const Argument> arguments,
                 const LaunchOptions&, void** profile) override {
    if (lane >= lanes_) {
      return Status(StatusCode::invalid_argument, {"lane ", lane, " of ", lanes_});
    }
    Result<RunTimes> times = device_.play(entry_, arguments, Nanoseconds{0});
    if (!times) return times.status();
    if (profile != nullptr) *profile = new (std::nothrow) Nanoseconds(times->device);
    return Status();
  }
  std::uint32_t lanes() const override { return lanes_; }
  std::uint64_t max_work_group_size() const override { return device_.info().max_work_group_size; }
  std::uint64_t local_memory_bytes() const override { return 0; }
  const TableEntry& entry() const { return entry_; }

 private:
  ReplayDevice& device_;
  TableEntry entry_;
  std::uint32_t lanes_;
};

ReplayDevice::ReplayDevice(const MeasurementTable& table, const ReplayOptions& options)
    : table_(table),
      options_(options),
      info_(table.device()),
      random_(options.seed),
      now_(options.start) {
  info_.backend = "replay";
}

Result<Configuration> ReplayDevice::parse_options(std::string_view options) const {
  const Span<const std::string> names = table_.parameters();
  std::array<std::int64_t, kMaxParameters> values{};
  std::array<bool, kMaxParameters> seen{};
  const std::size_t count = std::min(names.size(), kMaxParameters);
  std::size_t named = 0;
  std::string_view definition;
  while (next_definition(options, definition)) {
    const std::size_t equals = definition.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = definition.substr(0, equals);
    const std::string_view text = definition.substr(equals + 1);
    for (std::size_t i = 0; i < count; ++i) {
      if (name != names[i]) continue;
      const char* const end = text.data() + text.size();
      const auto parsed = std::from_chars(text.data(), end, values[i]);
      if (parsed.ec != std::errc() || parsed.ptr != end) {
        return Status(StatusCode::invalid_argument,
                      {"compile option -D", definition, ": expected an integer"});
      }
      if (!seen[i]) ++named;
      seen[i] = true;
    }
  }
  Configuration configuration;
  if (named == 0) return configuration;
  for (std::size_t i = 0; i < count; ++i) {
    if (!seen[i]) {
      return Status(StatusCode::invalid_argument,
                    {"compile options lack a definition of tuning parameter '", names[i], "'"});
    }
    configuration.push_back(values[i]);
  }
  return configuration;
}

Result<std::unique_ptr<Program>> ReplayDevice::compile(const CompileRequest& request) {
  Result<Configuration> configuration = parse_options(request.options);
  if (!configuration) return configuration.status();
  TableEntry entry;
  if (configuration->empty()) {
    entry.samples = Span<const Nanoseconds>(&options_.reference_run, 1);
  } else if (!table_.find(*configuration, entry)) {
    return Status(
        StatusCode::invalid_argument,
        {"options '", request.options, "': this configuration was not measured on ", info_.name});
  }
  advance(entry.compile_time);
  if (entry.status == TrialStatus::compile) {
    return Status(StatusCode::compile_error, "recorded as failing to compile");
  }
  if (entry.status == TrialStatus::constraints) {
    return Status(StatusCode::invalid_argument, "recorded as violating a constraint or limit");
  }
  std::unique_ptr<Program> program(new (std::nothrow) ReplayProgram(*this, entry, request.lanes));
  if (!program) return Status(StatusCode::out_of_memory, "a replayed program");
  return program;
}

Result<std::unique_ptr<Buffer>> ReplayDevice::allocate(std::size_t bytes) {
  std::unique_ptr<HostBuffer> buffer(new (std::nothrow) HostBuffer(bytes));
  if (!buffer || !buffer->allocated()) {
    return Status(StatusCode::out_of_memory, {"a buffer of ", bytes, " bytes"});
  }
  return std::unique_ptr<Buffer>(std::move(buffer));
}

Status ReplayDevice::write(Buffer& buffer, std::size_t offset, Bytes data) {
  if (!inside(buffer, offset, data.size())) return out_of_range(buffer, offset, data.size());
  if (!data.empty()) {
    std::memcpy(static_cast<HostBuffer&>(buffer).data() + offset, data.data(), data.size());
  }
  copy_time(data.size());
  return Status();
}

Status ReplayDevice::read(const Buffer& buffer, std::size_t offset, MutableBytes data) {
  if (!inside(buffer, offset, data.size())) return out_of_range(buffer, offset, data.size());
  if (!data.empty()) {
    std::memcpy(data.data(), static_cast<const HostBuffer&>(buffer).data() + offset, data.size());
  }
  copy_time(data.size());
  return Status();
}

void ReplayDevice::copy_time(std::size_t bytes) {
  if (options_.copy_bytes_per_ns > 0) {
    advance(Nanoseconds(
        static_cast<std::int64_t>(static_cast<double>(bytes) / options_.copy_bytes_per_ns)));
  }
}

Result<RunTimes> ReplayDevice::run(Program& program, const Range&, Span<const Argument> arguments,
                                   Nanoseconds deadline) {
  return play(static_cast<ReplayProgram&>(program).entry(), arguments, deadline);
}

Nanoseconds ReplayDevice::choose_sample(const TableEntry& entry) {
  if (entry.samples.empty()) return Nanoseconds{0};
  if (entry.samples.size() == 1) return entry.samples[0];
  return entry.samples[static_cast<std::size_t>(random_.below(entry.samples.size()))];
}

Result<RunTimes> ReplayDevice::play(const TableEntry& entry, Span<const Argument> arguments,
                                    Nanoseconds deadline) {
  const bool hangs = entry.status == TrialStatus::timeout;
  const Nanoseconds device = hangs ? options_.hang_time : choose_sample(entry);
  const Nanoseconds wall = device + options_.launch_overhead;
  if (hangs || (deadline.count() > 0 && wall > deadline)) {
    const Nanoseconds waited = deadline.count() > 0 ? std::min(wall, deadline) : wall;
    advance(waited);
    return Status(StatusCode::timeout, {"the run had not ended after ", waited.count(), " ns"});
  }
  advance(wall);
  switch (entry.status) {
    case TrialStatus::correct:
      if (device.count() > 0) break;
      return Status(StatusCode::device_error, "the table has no time for this configuration");
    case TrialStatus::correctness:
      if (!options_.outputs_are_read) {
        return Status(StatusCode::corrupt, "recorded as computing a wrong result");
      }
      invert_buffers(arguments);
      break;
    case TrialStatus::crash: return Status(StatusCode::device_error, "crash");
    default: return Status(StatusCode::device_error, "recorded as failing to run");
  }
  RunTimes times;
  times.device = device;
  times.wall = wall;
  return times;
}

Result<Nanoseconds> ReplayDevice::elapsed(void* profile) {
  if (profile == nullptr) {
    return Status(StatusCode::invalid_argument, "elapsed: no profile ticket");
  }
  const std::unique_ptr<Nanoseconds> ticket(static_cast<Nanoseconds*>(profile));
  return *ticket;
}

void ReplayDevice::discard(void* profile) { delete static_cast<Nanoseconds*>(profile); }

void ReplayDevice::advance(Nanoseconds duration) {
  if (duration.count() <= 0) return;
  const Nanoseconds room = Nanoseconds::max() - std::max(Nanoseconds{0}, now_);
  now_ += std::min(duration, room);
}

}  // namespace idletune::replay
