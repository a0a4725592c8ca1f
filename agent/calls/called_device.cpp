#include "agent/calls/called_device.hpp"

#include <cstdlib>
#include <string_view>

#include "platform/os/clock.hpp"

namespace idletune::detail {
namespace {

// "-DLEVEL=6 -DMEMORY=8": the values.
Configuration values_in(std::string_view options) {
  Configuration configuration;
  for (std::size_t at = options.find('='); at != options.npos; at = options.find('=', at + 1)) {
    const std::string value(options.substr(at + 1, options.find(' ', at) - at - 1));
    configuration.push_back(std::strtoll(value.c_str(), nullptr, 10));
  }
  return configuration;
}

class CalledProgram : public Program {
 public:
  CalledProgram(const Configuration& configuration, std::uint32_t lanes, OpenCalls& calls)
      : configuration_(configuration), lanes_(lanes), calls_(calls) {}

  Status enqueue(std::uint32_t, const Range&, Span<const Argument>, const LaunchOptions& options,
                 void** profile) override {
    auto& begun = *static_cast<CallBegun*>(options.event);
    begun.configuration = configuration_;
    begun.number = calls_.begin();
    if (profile != nullptr) {
      *profile = reinterpret_cast<void*>(static_cast<std::uintptr_t>(begun.number));
    }
    return {};
  }
  std::uint32_t lanes() const override { return lanes_; }
  std::uint64_t max_work_group_size() const override { return 1; }
  std::uint64_t local_memory_bytes() const override { return 0; }

 private:
  Configuration configuration_;
  std::uint32_t lanes_;
  OpenCalls& calls_;
};

Status no_memory() { return Status(StatusCode::unsupported, "calls have no device memory"); }

}  // namespace

std::uint64_t OpenCalls::begin() {
  const std::uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
  words_[number % kRoom].store(word(number, 0), std::memory_order_release);
  return number;
}

bool OpenCalls::end(std::uint64_t number, Nanoseconds time) {
  if (number < kRoom) return false;  // as the words are before any began
  const bool told = is_time(time);
  std::uint64_t running = word(number, 0);
  return words_[number % kRoom].compare_exchange_strong(
      running, word(number, told ? time.count() : kUntimed), std::memory_order_acq_rel);
}

Result<Nanoseconds> OpenCalls::time(std::uint64_t number) const {
  const std::uint64_t now = words_[number % kRoom].load(std::memory_order_acquire);
  if (now == word(number, 0)) return Status(StatusCode::busy, "the call has not ended");
  const auto time = static_cast<std::int64_t>(now - word(number, 0));
  const bool told = now >> 44 == word(number, 0) >> 44 && time != kUntimed;
  if (!told) return Status(StatusCode::unsupported, "the call told no time");
  return Nanoseconds(time);
}

CalledDevice::CalledDevice(const std::string& runs_on) {
  info_.backend = "calls";
  info_.platform = "application";
  info_.name = runs_on;
  info_.driver = runs_on;
  info_.compute_units = 1;
  info_.max_work_group_size = 1;
  info_.max_work_item_sizes = {1, 1, 1};
  info_.is_cpu = true;
}

Result<std::unique_ptr<Program>> CalledDevice::compile(const CompileRequest& request) {
  return std::unique_ptr<Program>(
      std::make_unique<CalledProgram>(values_in(request.options), request.lanes, calls_));
}
Result<std::unique_ptr<Buffer>> CalledDevice::allocate(std::size_t) { return no_memory(); }
Status CalledDevice::write(Buffer&, std::size_t, Bytes) { return no_memory(); }
Status CalledDevice::read(const Buffer&, std::size_t, MutableBytes) { return no_memory(); }
Result<RunTimes> CalledDevice::run(Program&, const Range&, Span<const Argument>, Nanoseconds) {
  return RunTimes();
}
Result<Nanoseconds> CalledDevice::elapsed(void* profile) {
  return calls_.time(reinterpret_cast<std::uintptr_t>(profile));
}
Nanoseconds CalledDevice::now() const { return real_clock().now(); }

Status CallTrials::start(const TrialRequest& request) {
  if (runs_) return Status(StatusCode::busy, "a stage has begun already");
  runs_ = true;
  stage_ = request.stage;
  return {};
}

bool CallTrials::poll(Nanoseconds, TrialOutcome& outcome) {
  if (!runs_) return false;
  runs_ = false;
  outcome = TrialOutcome();
  outcome.stage = stage_;
  outcome.wall = Nanoseconds{1};  // however late somebody asks: nothing ran
  if (stage_ == TrialStage::measure) {
    outcome.status = TrialStatus::runtime;
    outcome.message = "calls are timed by the application alone";
  }
  return true;
}

}  // namespace idletune::detail
