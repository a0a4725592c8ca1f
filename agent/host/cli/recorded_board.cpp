#include "agent/host/cli/recorded_board.hpp"

#include <algorithm>
#include <sstream>

#include "agent/api/agent_state.hpp"
#include "agent/host/cli/temporary_folder.hpp"
#include "agent/journal/summary.hpp"
#include "models/devices/device_kind.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::cli {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40U;

class Nothing final : public Buffer {
 public:
  explicit Nothing(std::size_t bytes) : bytes_(bytes) {}
  std::size_t size_bytes() const override { return bytes_; }
  idletune::Argument argument() const override { return idletune::Argument(this); }

 private:
  std::size_t bytes_;
};

class NeverRun final : public Program {
 public:
  Status enqueue(std::uint32_t, const Range&, Span<const idletune::Argument>, const LaunchOptions&,
                 void** profile) override {
    if (profile != nullptr) *profile = nullptr;
    return {};
  }
  std::uint32_t lanes() const override { return detail::KernelState::kLanes; }
  std::uint64_t max_work_group_size() const override { return kPlenty; }
  std::uint64_t local_memory_bytes() const override { return 0; }
  Result<std::unique_ptr<Program>> another(std::string_view) const override {
    return std::unique_ptr<Program>(std::make_unique<NeverRun>());
  }
};

// Has a name, and room for everything.
class RecordedDevice final : public Device {
 public:
  explicit RecordedDevice(DeviceInfo info) : info_(std::move(info)) {
    info_.local_memory_bytes = info_.global_memory_bytes = info_.max_allocation_bytes = kPlenty;
    info_.max_work_group_size = kPlenty;
    info_.max_work_item_sizes = {kPlenty, kPlenty, kPlenty};
  }
  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<Program>> compile(const CompileRequest&) override {
    return std::unique_ptr<Program>(std::make_unique<NeverRun>());
  }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    return std::unique_ptr<Buffer>(std::make_unique<Nothing>(bytes));
  }
  Status write(Buffer&, std::size_t, Bytes) override { return {}; }
  Status read(const Buffer&, std::size_t, MutableBytes) override { return {}; }
  Result<RunTimes> run(Program&, const Range&, Span<const idletune::Argument>,
                       Nanoseconds) override {
    return RunTimes{};
  }
  Result<Nanoseconds> elapsed(void*) override { return Status(StatusCode::unsupported, "no run"); }
  Nanoseconds now() const override { return Nanoseconds{0}; }

 private:
  DeviceInfo info_;
};

class StandingClock final : public MonotonicClock {
 public:
  Nanoseconds now() const override { return Nanoseconds{0}; }
};

// Is never asked: every step begins with a compilation, and those may take no time.
class NoTrials final : public TrialRunner {
 public:
  Status start(const TrialRequest&) override {
    return Status(StatusCode::unsupported, "nothing runs here");
  }
  bool poll(Nanoseconds, TrialOutcome&) override { return false; }
  bool isolated() const override { return true; }
  bool poisoned() const override { return false; }
};

Status copy_state(const std::string& from, const std::string& to) {
  std::error_code failed;
  for (const char* part : {"captures", journal::kJournalName}) {
    std::filesystem::copy(from + "/" + part, to + "/" + part, failed);
  }
  if (!failed) return {};
  return {StatusCode::io_error, "copying '" + from + "' to '" + to + "': " + failed.message()};
}

// As Knowledge::record_names writes them.
std::optional<DeviceInfo> device_of(const journal::State& state, const journal::Trial& trial) {
  const auto device = state.name(journal::NameKind::device, trial.device);
  const auto driver = state.name(journal::NameKind::driver, trial.driver);
  if (!device || !driver) return std::nullopt;
  DeviceInfo info;
  std::istringstream lines(device->text);
  for (std::string* line : {&info.backend, &info.platform, &info.name, &info.vendor}) {
    std::getline(lines, *line);
  }
  lines >> info.compute_units;
  info.driver = driver->text;
  info.is_cpu = device_kind(info.name) == DeviceKind::processor;  // of which the keys say nothing
  const bool is_it = info.device_key() == trial.device && info.driver_key() == trial.driver;
  return is_it ? std::optional<DeviceInfo>(info) : std::nullopt;
}

struct Recorded {
  DeviceInfo device;
  std::vector<Shape> problems;
};

Result<Recorded> recorded_of(const std::string& folder, std::uint64_t kernel) {
  const std::string path = folder + "/" + journal::kJournalName;
  const Result<std::vector<std::uint8_t>> bytes = read_file(path, std::size_t{16} << 20U);
  if (!bytes.ok()) return bytes.status();
  const Result<journal::JournalSummary> summary = journal::read_journal(*bytes);
  if (!summary.ok()) return summary.status();
  std::optional<journal::Measurement> last;
  summary->state.for_each_measurement([&](const journal::Measurement& each) {
    if (each.trial.kernel != kernel) return;
    if (!last || each.unix_seconds >= last->unix_seconds) last = each;
  });
  const auto device = last ? device_of(summary->state, last->trial) : std::nullopt;
  if (!device) {
    return Status(StatusCode::not_found, "%%", path,
                  last ? ": does not say on which device the kernel was measured"
                       : ": nothing was measured of this kernel");
  }
  Recorded result{*device, {}};
  summary->state.for_each_measurement([&](const journal::Measurement& each) {
    const journal::Trial& trial = each.trial;
    if (trial.kernel != kernel || trial.device != last->trial.device) return;
    std::vector<Shape>& known = result.problems;
    if (std::count(known.begin(), known.end(), trial.shape) == 0) known.push_back(trial.shape);
  });
  return result;
}

}  // namespace

Result<std::vector<Explanation>> explain_recorded(const std::string& state, AgentOptions options,
                                                  std::vector<std::uint8_t> package,
                                                  double launches) {
  const auto opened = KernelPackage::open(package, "package");
  if (!opened.ok()) return opened.status();
  const Result<Recorded> recorded = recorded_of(state, (*opened)->digest());
  if (!recorded.ok()) return recorded.status();
  const TemporaryFolder copy;
  if (!copy.made().ok()) return copy.made();
  if (Status copied = copy_state(state, copy.path()); !copied.ok()) return copied;
  options.state = copy.path();
  options.read_environment = false;
  options.max_compile_share = 0;  // nothing is begun
  const StandingClock clock;
  detail::Surroundings surroundings;
  surroundings.clock = &clock;
  surroundings.builds = detail::BuildThread::caller;
  surroundings.make_trial_runner = [](Device&, const std::shared_ptr<const KernelPackage>&) {
    return Result<std::unique_ptr<TrialRunner>>(std::make_unique<NoTrials>());
  };
  RecordedDevice device(recorded->device);
  auto agent = detail::AgentState::open(options, std::move(surroundings));
  if (!agent.ok()) return agent.status();
  auto kernel = (*agent)->kernel(device, std::move(package), "package");
  if (!kernel.ok()) return kernel.status();
  std::vector<Explanation> answers;
  for (const Shape& problem : recorded->problems) {
    const auto slot = (*kernel)->slot_for(detail::TunerLock::held(), problem);  // nobody else's
    if (!slot.ok()) return slot.status();
    if (launches >= 0) (*kernel)->expect_launches(problem, launches);
  }
  (void)(*agent)->idle(std::chrono::seconds(1), detail::TimeSource::idle);
  for (const Shape& problem : (*agent)->shapes(**kernel)) {
    Result<Explanation> answer = (*agent)->explain(**kernel, problem);
    if (!answer.ok()) return answer.status();
    answers.push_back(std::move(*answer));
  }
  return answers;
}

}  // namespace idletune::cli
