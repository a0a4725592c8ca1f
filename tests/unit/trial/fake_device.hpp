// A device in memory whose kernels are functions of the test, with a scripted clock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <idletune/device.hpp>

namespace idletune::fake {

// The value of `name` among "-DNAME=value" options; 0 without it.
inline std::int64_t option(const std::string& options, const std::string& name) {
  const std::string key = "-D" + name + "=";
  const std::size_t at = options.find(key);
  return at == std::string::npos ? 0 : std::atoll(options.c_str() + at + key.size());
}

struct Launch {
  std::string options;
  Range range;
  Span<const Argument> arguments;

  std::int64_t parameter(const std::string& name) const { return option(options, name); }
  template <class T>
  T* buffer(std::size_t index) const {
    std::uint8_t* pointer = nullptr;
    std::memcpy(&pointer, arguments[index].data(), sizeof pointer);
    return reinterpret_cast<T*>(pointer);
  }
  template <class T>
  T scalar(std::size_t index) const {
    T value;
    std::memcpy(&value, arguments[index].data(), sizeof value);
    return value;
  }
};

using Kernel = std::function<Status(const Launch&)>;

class Device final : public idletune::Device {
 public:
  DeviceInfo device_info;
  std::map<std::string, Kernel> kernels;  // by entry
  std::function<Status(const CompileRequest&)> compile_script;
  std::deque<RunTimes> times;  // of the next runs; then default_time
  RunTimes default_time{Nanoseconds(1000), Nanoseconds(1500)};
  std::size_t alignment = 64;  // of windows; 0: none
  std::uint64_t program_work_group_limit = 1024;
  std::uint64_t program_local_memory = 0;
  bool fail_allocations = false;
  // What an application's launch does and how long it keeps the device busy; called from the
  // launching threads. Without it there are no launches.
  std::function<Result<Nanoseconds>(const std::string& options)> launch_script;
  bool queue_has_profiling = true;
  std::function<void()> copy_script;  // before an application's buffer is copied
  // What happened.
  std::atomic<std::uint32_t> compiles{0};  // these three from any thread
  std::vector<std::string> runs;           // entries
  std::vector<Nanoseconds> deadlines;
  std::string program_folder;
  std::atomic<std::size_t> largest_allocation{0};
  std::atomic<int> live_buffers{0};
  std::atomic<int> live_programs{0};
  Nanoseconds clock{0};

  Device() {
    device_info.backend = "fake";
    device_info.platform = "Fake Platform";
    device_info.name = "Fake CPU";
    device_info.local_memory_bytes = 32768;
    device_info.max_work_group_size = 1024;
    device_info.max_work_item_sizes = {1024, 1024, 64};
    device_info.max_allocation_bytes = std::uint64_t{1} << 30;
  }

  std::size_t count(const std::string& entry) const {
    std::size_t number = 0;
    for (const std::string& run : runs) number += run == entry ? 1 : 0;
    return number;
  }

  const DeviceInfo& info() const override { return device_info; }

  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override {
    ++compiles;
    if (compile_script) {
      Status status = compile_script(request);
      if (!status.ok()) return status;
    }
    if (kernels.count(std::string(request.entry)) == 0) {
      return Status(StatusCode::compile_error, "no kernel of that name");
    }
    return std::unique_ptr<Program>(new FakeProgram(*this, std::string(request.entry),
                                                    std::string(request.options), request.lanes));
  }

  void keep_programs_in(const std::string& folder) override { program_folder = folder; }

  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    largest_allocation = std::max<std::size_t>(largest_allocation, bytes);
    if (fail_allocations) return Status(StatusCode::out_of_memory, "scripted");
    return std::unique_ptr<Buffer>(new FakeBuffer(*this, bytes));
  }

  Result<std::unique_ptr<Buffer>> window(Buffer& parent, std::size_t offset,
                                         std::size_t bytes) override {
    if (alignment == 0 || offset % alignment != 0) {
      return Status(StatusCode::unsupported, "not aligned");
    }
    auto& whole = static_cast<FakeBuffer&>(parent);
    return std::unique_ptr<Buffer>(new FakeBuffer(*this, whole.data() + offset, bytes));
  }
  std::size_t window_alignment_bytes() const override { return alignment; }

  Status write(Buffer& buffer, std::size_t offset, Bytes data) override {
    auto& target = static_cast<FakeBuffer&>(buffer);
    if (offset > target.size_bytes() || data.size() > target.size_bytes() - offset) {
      return Status(StatusCode::invalid_argument, "write outside the buffer");
    }
    std::memcpy(target.data() + offset, data.data(), data.size());
    return {};
  }

  Status read(const Buffer& buffer, std::size_t offset, MutableBytes data) override {
    const auto& source = static_cast<const FakeBuffer&>(buffer);
    if (offset > source.size_bytes() || data.size() > source.size_bytes() - offset) {
      return Status(StatusCode::invalid_argument, "read outside the buffer");
    }
    std::memcpy(data.data(), source.data() + offset, data.size());
    return {};
  }
  Status copy_out(const Argument& buffer, MutableBytes data) override {
    if (copy_script) copy_script();
    const std::uint8_t* start = nullptr;
    std::memcpy(&start, buffer.data(), sizeof start);
    std::memcpy(data.data(), start, data.size());
    return {};
  }

  Result<RunTimes> run(Program& program, const Range& range, Span<const Argument> arguments,
                       Nanoseconds deadline) override {
    auto& fake = static_cast<FakeProgram&>(program);
    runs.push_back(fake.entry);
    deadlines.push_back(deadline);
    Launch launch;
    launch.options = fake.options;
    launch.range = range;
    launch.arguments = arguments;
    Status status = kernels[fake.entry](launch);
    if (!status.ok()) return status;
    RunTimes time = default_time;
    if (!times.empty()) {
      time = times.front();
      times.pop_front();
    }
    clock += time.wall;
    return time;
  }

  Result<Nanoseconds> elapsed(void* profile) override {
    if (profile == nullptr) return Status(StatusCode::unsupported, "no profile");
    const std::unique_ptr<Nanoseconds> ticket(static_cast<Nanoseconds*>(profile));
    return *ticket;
  }
  void discard(void* profile) override { delete static_cast<Nanoseconds*>(profile); }
  Nanoseconds now() const override { return clock; }

 private:
  class FakeBuffer final : public Buffer {
   public:
    FakeBuffer(Device& device, std::size_t bytes)
        : device_(device),
          bytes_(bytes + 2 * kSlack, 0xee),
          start_(bytes_.data() + kSlack),
          size_(bytes) {
      ++device_.live_buffers;
    }
    FakeBuffer(Device& device, std::uint8_t* start, std::size_t bytes)
        : device_(device), start_(start), size_(bytes) {
      ++device_.live_buffers;
    }
    ~FakeBuffer() override { --device_.live_buffers; }
    std::size_t size_bytes() const override { return size_; }
    Argument argument() const override { return Argument(start_); }
    std::uint8_t* data() { return start_; }
    const std::uint8_t* data() const { return start_; }

   private:
    static constexpr std::size_t kSlack = 256;  // a real device has something there as well
    Device& device_;
    std::vector<std::uint8_t> bytes_;
    std::uint8_t* start_;
    std::size_t size_;
  };

  struct FakeProgram final : public Program {
    FakeProgram(Device& d, std::string e, std::string o, std::uint32_t lane_count)
        : device(d), entry(std::move(e)), options(std::move(o)), lane_limit(lane_count) {
      ++device.live_programs;
    }
    ~FakeProgram() override { --device.live_programs; }
    Status enqueue(std::uint32_t lane, const Range&, Span<const Argument>, const LaunchOptions&,
                   void** profile) override {
      if (profile != nullptr) *profile = nullptr;
      if (!device.launch_script) return Status(StatusCode::unsupported, "no launches are scripted");
      if (lane >= lane_limit) return Status(StatusCode::invalid_argument, "no such lane");
      const Result<Nanoseconds> time = device.launch_script(options);
      if (!time.ok()) return time.status();
      if (profile != nullptr && device.queue_has_profiling) *profile = new Nanoseconds(*time);
      return {};
    }
    Result<std::unique_ptr<Program>> another(std::string_view name) const override {
      if (device.kernels.count(std::string(name)) == 0) {
        return Status(StatusCode::compile_error, "no kernel of that name");
      }
      return std::unique_ptr<Program>(
          new FakeProgram(device, std::string(name), options, lane_limit));
    }
    std::uint32_t lanes() const override { return lane_limit; }
    std::uint64_t max_work_group_size() const override { return device.program_work_group_limit; }
    std::uint64_t local_memory_bytes() const override { return device.program_local_memory; }
    Device& device;
    std::string entry;
    std::string options;
    std::uint32_t lane_limit;
  };
};

}  // namespace idletune::fake
