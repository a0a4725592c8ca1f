// A device on which nothing runs: it remembers what was enqueued where.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/os/mutex.hpp"
#include "tests/unit/launch/launch_only_device.hpp"

namespace idletune::fake {

class Queues final : public test::LaunchOnlyDevice {
 public:
  struct Entry {
    std::string what;
    void* queue = nullptr;
    std::vector<Argument> arguments;
    std::uint32_t waits = 0;
    bool event = false;
    bool profiled = false;
  };
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override {
    return std::unique_ptr<Program>(new Step(*this, std::string(request.entry)));
  }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    allocated += bytes;
    return std::unique_ptr<Buffer>(new Memory(bytes));
  }
  Status order(void* before, void* then) override {
    if (before == then) return {};
    if (refused_orders > 0 && refused_orders-- > 0) {
      return Status(StatusCode::device_error, "refused");
    }
    note({"order", then, {}, 0, false, false});
    return {};
  }
  Result<Nanoseconds> elapsed(void*) override { return Nanoseconds(1000); }
  void discard(void*) override { ++discarded; }

  std::vector<Entry> take() {
    const MutexLock lock(mutex_);
    return std::exchange(entries_, {});
  }
  std::string names() {
    std::string text;
    for (const Entry& entry : take()) text += entry.what + ' ';
    return text;
  }
  void note(Entry entry) {
    const MutexLock lock(mutex_);
    entries_.push_back(std::move(entry));
  }

  std::atomic<std::size_t> allocated{0};
  std::atomic<int> discarded{0};
  std::string untimed;  // the entry that comes back without a profile
  std::string failing;  // the entry that the driver refuses; "*": all
  int refused_orders = 0;
  bool profiling = true;

 private:
  class Memory final : public Buffer {
   public:
    explicit Memory(std::size_t bytes) : bytes_(bytes) {}
    std::size_t size_bytes() const override { return bytes_; }
    Argument argument() const override { return Argument(const_cast<Memory*>(this)); }

   private:
    std::size_t bytes_;
  };
  struct Step final : public test::LaunchOnlyProgram {
    Step(Queues& d, std::string e) : device(d), entry(std::move(e)) {}
    Status enqueue(std::uint32_t, const Range&, Span<const Argument> arguments,
                   const LaunchOptions& options, void** profile) override {
      if (entry == device.failing || device.failing == "*")
        return Status(StatusCode::device_error, "refused");
      if (profile != nullptr)
        *profile = device.profiling && entry != device.untimed ? this : nullptr;
      device.note({entry, options.queue, std::vector<Argument>(arguments.begin(), arguments.end()),
                   options.wait_count, options.event != nullptr, profile != nullptr});
      return {};
    }
    Result<std::unique_ptr<Program>> another(std::string_view name) const override {
      return std::unique_ptr<Program>(new Step(device, std::string(name)));
    }
    Queues& device;
    std::string entry;
  };

  Mutex mutex_;
  std::vector<Entry> entries_ IDLETUNE_GUARDED_BY(mutex_);
};

inline bool same(const Argument& a, const Argument& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace idletune::fake
