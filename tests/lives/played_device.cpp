#include "tests/lives/played_device.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace idletune::lives {
namespace {

std::int64_t value_of(std::string_view options, std::string_view key) {
  const std::size_t at = options.find(key);
  if (at == std::string_view::npos) return 0;
  return std::atoll(std::string(options.substr(at + key.size(), 12)).c_str());
}

class PlayedBuffer final : public Buffer {
 public:
  explicit PlayedBuffer(std::size_t bytes) : bytes_(bytes) {}
  std::size_t size_bytes() const override { return bytes_.size(); }
  Argument argument() const override {
    return Argument(const_cast<void*>(static_cast<const void*>(bytes_.data())));
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

class PlayedDevice::PlayedProgram final : public Program {
 public:
  PlayedProgram(PlayedDevice& device, Values of, std::string_view entry, std::uint32_t lanes)
      : values(of), device_(device), entry_(entry), lanes_(lanes) {}
  // A profile is the time itself, so that none is allocated.
  Status enqueue(std::uint32_t lane, const Range& range, Span<const Argument> arguments,
                 const LaunchOptions& options, void** profile) override {
    if (lane >= lanes_) std::abort();
    if (profile != nullptr) *profile = nullptr;
    Enqueued enqueued{values, entry_};
    enqueued.items = range.global[0];
    std::memcpy(&enqueued.first, arguments[0].data(), sizeof enqueued.first);
    if (options.event != nullptr) enqueued.first = options.event;  // a call takes no arguments
    if (arguments.size() > 1)
      std::memcpy(&enqueued.second, arguments[1].data(), sizeof enqueued.second);
    const Result<Nanoseconds> time = device_.on_launch(enqueued);
    if (!time.ok()) return time.status();
    if (profile != nullptr && device_.profiling) {
      *profile = reinterpret_cast<void*>(static_cast<std::uintptr_t>(time->count()));
    }
    return {};
  }
  std::uint32_t lanes() const override { return lanes_; }
  std::uint64_t max_work_group_size() const override { return 1024; }
  std::uint64_t local_memory_bytes() const override { return 0; }
  Result<std::unique_ptr<Program>> another(std::string_view entry) const override {
    return std::unique_ptr<Program>(new PlayedProgram(device_, values, entry, lanes_));
  }

  const Values values;

 private:
  PlayedDevice& device_;
  const std::string entry_;
  const std::uint32_t lanes_;
};

PlayedDevice::PlayedDevice(std::string driver) {
  info_.backend = "played";
  info_.platform = "test";
  info_.name = "board";
  info_.driver = std::move(driver);
  info_.local_memory_bytes = 32768;
  info_.max_allocation_bytes = std::uint64_t{1} << 30;
  info_.max_work_group_size = 256;
  info_.max_work_item_sizes = {256, 256, 64};
}

Result<std::unique_ptr<Program>> PlayedDevice::compile(const CompileRequest& request) {
  const Values values{value_of(request.options, "-DA="), value_of(request.options, "-DB=")};
  if (Status status = on_compile(values); !status.ok()) return status;
  return std::unique_ptr<Program>(new PlayedProgram(*this, values, request.entry, request.lanes));
}

Result<std::unique_ptr<Buffer>> PlayedDevice::allocate(std::size_t bytes) {
  return std::unique_ptr<Buffer>(std::make_unique<PlayedBuffer>(bytes));
}

Status PlayedDevice::write(Buffer& buffer, std::size_t offset, Bytes data) {
  if (offset + data.size() <= buffer.size_bytes()) return {};
  return Status(StatusCode::invalid_argument, "write outside the buffer");
}

Status PlayedDevice::read(const Buffer&, std::size_t, MutableBytes) { return {}; }

Status PlayedDevice::copy_out(const Argument& buffer, MutableBytes data) {
  const char* contents = nullptr;
  std::memcpy(&contents, buffer.data(), sizeof contents);
  std::memset(data.data(), *contents, data.size());
  return {};
}

Result<RunTimes> PlayedDevice::run(Program& program, const Range&, Span<const Argument>,
                                   Nanoseconds deadline) {
  if (Status status = usable(); !status.ok()) return status;
  if (Status status = on_run(static_cast<PlayedProgram&>(program).values, deadline); !status.ok()) {
    lost_ = lost_ || status.code() == StatusCode::timeout;
    return status;
  }
  return RunTimes{Nanoseconds(1000), Nanoseconds(1500)};
}

Status PlayedDevice::order(void*, void*) { return on_order ? on_order() : Status(); }

Status PlayedDevice::order_after(void*, void*, void*) { return on_order ? on_order() : Status(); }

Result<Nanoseconds> PlayedDevice::elapsed(void* profile) {
  if (profile == nullptr) return Status(StatusCode::unsupported, "no profile");
  return Nanoseconds(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(profile)));
}

Status PlayedDevice::usable() const {
  return lost_ ? Status(StatusCode::device_error, "a run never ended") : Status();
}

}  // namespace idletune::lives
