#include "agent/trial/helper_trials.hpp"

#include <idletune/text.hpp>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>
#include <vector>

#include "agent/trial/helper_exit.hpp"
#include "agent/trial/limits.hpp"
#include "agent/trial/stage_thread.hpp"
#include "agent/trial/trial_wire.hpp"
#include "models/core/lists.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/completion_wait.hpp"
#include "platform/os/awake_time.hpp"
#include "platform/os/environment.hpp"
#include "platform/os/mutex.hpp"
#include "platform/os/process.hpp"

#ifndef IDLETUNE_INSTALLED_PROGRAMS
#define IDLETUNE_INSTALLED_PROGRAMS "/usr/local/bin"
#endif

namespace idletune {
namespace {

using Clock = std::chrono::steady_clock;
using wire::MessageType;

constexpr char kProgramName[] = "idletune-helper";
constexpr Nanoseconds kTransfer = std::chrono::seconds(10);  // the rest of a started message
constexpr Nanoseconds kReap = std::chrono::seconds(2);
constexpr Nanoseconds kLongestRun = std::chrono::hours(24);
constexpr std::uint32_t kMaxCountedRepeats = 10000;

Nanoseconds time_since(Clock::time_point start) { return Clock::now() - start; }

std::string in_milliseconds(Nanoseconds time) {
  return joined("% ms", std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

bool is_program(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

// What the helper has behind it, so that a stage is not granted time for work already done.
struct Progress {
  Configuration compiled;
  bool any_compiled = false;
  Shape shape;
  std::uint64_t captured = 0;
  std::vector<std::uint32_t> seeds;  // references at hand for these

  bool has_compiled(const TrialRequest& request) const {
    return any_compiled && compiled == request.configuration;
  }
  bool has_prepared(const TrialRequest& request) const {
    if (shape != request.shape || captured != request.captured_digest) return false;
    for (std::uint32_t seed : seeds) {
      if (seed == request.seed) return true;
    }
    return false;
  }
  void note(const TrialRequest& request, bool correct) {
    if (correct && request.stage != TrialStage::prepare) {
      compiled = request.configuration;
      any_compiled = true;
    }
    if (request.stage == TrialStage::compile) return;
    // It forgets one problem for another.
    if (shape != request.shape || captured != request.captured_digest) seeds.clear();
    shape = request.shape;
    captured = request.captured_digest;
    if (!correct || request.stage == TrialStage::measure) return;
    if (!has_prepared(request)) push(seeds, request.seed);
    if (seeds.size() > 2) seeds.erase(seeds.begin());
  }
};

}  // namespace

class HelperTrials::State {
 public:
  State(const DeviceInfo& device, const std::shared_ptr<const KernelPackage>& package,
        const HelperTrialsOptions& options)
      : device_(device), package_(package), options_(options) {}

  ~State() {
    if (!thread_) return;
    stopping_.store(true);
    thread_->wait_until_idle();
  }

  Status start(const TrialRequest& request) {
    if (has_local_outcome_) return Status(StatusCode::busy, "the last outcome was not taken");
    Result<std::string> program = helper_program(options_.program, options_.program_in_path);
    if (!program) return program.status();
    options_.program = std::move(*program);
    if (Status status = start_failure(); !status.ok()) return status;
    if (Status status = ensure_thread(); !status.ok()) return status;
    if (refused_here(request)) return {};
    TrialRequest limited = request;
    limited.deadline = std::min(request.deadline, kLongestRun);
    return thread_->start(limited);
  }

  void reap() {
    if (thread_ && !thread_->runs() && child_ && child_->ended(Nanoseconds(0))) child_.reset();
    (void)ChildProcess::reap_left_behind();
  }

  bool poll(Nanoseconds wait, TrialOutcome& outcome) {
    if (has_local_outcome_) {
      outcome = std::move(local_outcome_);
      has_local_outcome_ = false;
      return true;
    }
    return thread_ && thread_->poll(wait, outcome);
  }

 private:
  // What the application's side can tell by itself costs no start.
  bool refused_here(const TrialRequest& request) {
    if (request.stage == TrialStage::prepare || request.ignore_device_limits) return false;
    const Clock::time_point start = Clock::now();
    const Result<LaunchPlan> plan = trial::admitted_plan(
        device_, *package_, options_.quirks, request.shape, request.configuration, false);
    if (plan) return false;
    local_outcome_ = TrialOutcome();
    local_outcome_.status = TrialStatus::constraints;
    local_outcome_.message = plan.status().message();
    local_outcome_.wall = time_since(start);
    has_local_outcome_ = true;
    return true;
  }

  Status ensure_thread() {
    if (thread_) return {};
    auto thread = trial::StageThread::create(
        "idletune-watch", [this](const TrialRequest& request) { return supervise(request); });
    if (!thread) return thread.status();
    thread_ = std::move(*thread);
    return {};
  }

  Status start_failure() const {
    const MutexLock lock(mutex_);
    if (start_failures_ < options_.max_start_failures) return {};
    return Status(StatusCode::device_error,
                  "idletune-helper could not be started % times in a row: %", start_failures_,
                  last_failure_);
  }

  // --- on the supervising thread ---

  TrialOutcome supervise(const TrialRequest& request) {
    const Clock::time_point start = Clock::now();
    TrialOutcome outcome;
    outcome.stage = request.stage;
    // Died while it had nothing to do, or is about to: then it has said so, or has hung up.
    if (child_ && (child_->ended(Nanoseconds(0)) || !child_->channel().quiet())) end_child();
    const Nanoseconds processor_before = child_ ? child_->cpu_time() : Nanoseconds(0);
    if (ensure_child(outcome) && reference_runs(request, outcome)) {
      converse(request, outcome);
      outcome.reference = ReferenceRun::well;
    }
    outcome.frozen = std::exchange(frozen_, Nanoseconds(0));
    outcome.wall = time_since(start) - outcome.frozen;
    if (child_) {
      outcome.processor = std::max(Nanoseconds(0), child_->cpu_time() - processor_before);
    }
    return outcome;
  }

  static void fail(TrialOutcome& outcome, TrialStatus status, const std::string& message) {
    outcome.status = status;
    outcome.message = message;
  }
  // No verdict on the configuration.
  static void fail_apart(TrialOutcome& outcome, const std::string& message) {
    outcome.stage = TrialStage::prepare;
    fail(outcome, TrialStatus::runtime, message);
  }

  bool ensure_child(TrialOutcome& outcome) {
    if (child_) return true;
    const Status status = start_child();
    const MutexLock lock(mutex_);
    if (status.ok()) {
      start_failures_ = 0;
      return true;
    }
    outcome.ambiguous = was_killed_by_others();
    child_.reset();
    if (!outcome.ambiguous && !stopping_.load()) ++start_failures_;
    last_failure_ = status.message();
    fail_apart(outcome, joined("idletune-helper did not start: %", status.message()));
    return false;
  }

  // Whatever else is to run in a helper, the reference runs there first: a device that did not
  // survive what an earlier helper died of must not be held against the next candidate.
  bool reference_runs(const TrialRequest& request, TrialOutcome& outcome) {
    if (reference_ran_) return true;
    TrialRequest first;
    first.stage = TrialStage::prepare;
    first.shape = request.shape;
    first.configuration = request.configuration;
    first.seed = request.seed;
    first.deadline = request.deadline;
    first.only_warm_up = true;
    TrialOutcome answer;
    answer.stage = TrialStage::prepare;
    converse(first, answer);
    reference_ran_ = child_ != nullptr;  // what else may fail, `prepare` says more of
    if (reference_ran_) return true;
    outcome = std::move(answer);
    if (!outcome.ambiguous && !stopping_.load()) outcome.reference = ReferenceRun::failed;
    return false;
  }

  Status start_child() {
    progress_ = Progress();
    reference_ran_ = false;
    ProcessOptions process;
    process.program = options_.program;
    process.inherit_output = options_.inherit_output;
    Result<std::unique_ptr<ChildProcess>> child = ChildProcess::start(process);
    if (!child) return child.status();
    child_ = std::move(*child);
    Status status = child_->channel().send(wire::encode(setup()), options_.start_deadline);
    if (!status.ok()) return explained(status);
    std::vector<std::uint8_t> payload;
    status = receive(MessageType::ready, options_.start_deadline, payload, true);
    if (!status.ok()) return explained(status);
    const Result<wire::Ready> ready = wire::decode_ready(payload);
    if (!ready) return ready.status();
    return ready->code == StatusCode::ok ? Status() : Status(ready->code, ready->message);
  }

  wire::SetupView setup() const {
    return {device_, options_.source, options_.executor, options_.quirks.text(), package_->bytes()};
  }

  // A connection that broke, with how the helper ended if it did.
  Status explained(const Status& status) {
    if (status.code() != StatusCode::not_found || !child_->ended(kReap)) return status;
    const ExitStatus& exit = child_->exit_status();
    if (exit.kind == ExitStatus::Kind::exited && exit.value == kProtocolExitCode) {
      return Status(
          StatusCode::version_mismatch,
          "'%' refuses messages of version %: helper and library are of different releases",
          options_.program, wire::kVersion);
    }
    return Status(StatusCode::device_error, "it %", exit.to_string());
  }

  // False while it lives.
  bool was_killed_by_others() {
    return child_ && child_->ended(Nanoseconds(0)) && child_->exit_status().by_others();
  }

  void converse(const TrialRequest& request, TrialOutcome& outcome) {
    const Nanoseconds deadline = hard_deadline(request);
    Status status = child_->channel().send(wire::encode(request), kTransfer);
    if (!status.ok()) {  // it died of something else just now
      fail_apart(outcome, explained(status).message());
      outcome.ambiguous = was_killed_by_others();
      child_.reset();
      return;
    }
    std::vector<std::uint8_t> payload;
    const bool may_starve = request.stage == TrialStage::compile || device_.is_cpu;
    status = receive(MessageType::outcome, deadline, payload, may_starve);
    if (status.ok()) {
      Result<TrialOutcome> decoded = wire::decode_outcome(payload);
      if (decoded) {
        outcome = std::move(*decoded);
        return after(request, outcome);
      }
      status = decoded.status();
    }
    outcome.cut = request.stage == TrialStage::compile && deadline == request.compile_limit &&
                  status.code() == StatusCode::timeout;
    judge_silence(status, deadline, outcome);
    child_.reset();
  }

  void after(const TrialRequest& request, const TrialOutcome& outcome) {
    if (!request.only_warm_up) progress_.note(request, outcome.status == TrialStatus::correct);
    if (outcome.status == TrialStatus::timeout) {
      end_child();  // its device still runs the kernel
    } else if (outcome.status == TrialStatus::runtime) {
      child_.reset();
    }
  }

  void judge_silence(const Status& status, Nanoseconds deadline, TrialOutcome& outcome) {
    if (stopping_.load()) return fail_apart(outcome, "the helper was stopped");
    if (status.code() == StatusCode::timeout) {
      end_child();
      return fail(outcome, outcome.cut ? TrialStatus::compile : TrialStatus::timeout,
                  joined("the helper was killed at its deadline of %", in_milliseconds(deadline)));
    }
    if (status.code() != StatusCode::not_found) return fail_apart(outcome, status.message());
    if (!child_->ended(kReap)) {
      outcome.ambiguous = !child_->bade_farewell();  // somebody's kill takes long to end it, too
      return fail(outcome, TrialStatus::crash, "the helper hung up");
    }
    const ExitStatus& exit = child_->exit_status();
    if (exit.kind == ExitStatus::Kind::exited &&
        (exit.value == kProtocolExitCode || exit.value == kParentGoneExitCode)) {
      return fail_apart(outcome, joined("the helper %", exit.to_string()));
    }
    outcome.ambiguous = was_killed_by_others();
    fail(outcome, TrialStatus::crash, joined("the helper %", exit.to_string()));
  }

  void end_child() {
    child_->kill();
    (void)child_->ended(kReap);
    child_.reset();
  }

  // How long a healthy helper may take at most, all its own deadlines included.
  Nanoseconds hard_deadline(const TrialRequest& request) const {
    Nanoseconds total{0};
    const bool runs_candidate =
        request.stage == TrialStage::check || request.stage == TrialStage::measure;
    if (request.stage != TrialStage::prepare && !progress_.has_compiled(request)) {
      total += options_.compile_deadline;
    }
    if (request.stage == TrialStage::compile) {  // with the first launch
      total += request.deadline + options_.executor.first_run_allowance;
      const Nanoseconds limit = request.compile_limit;
      return limit.count() > 0 ? std::min(total, limit) : total;
    }
    total += options_.stage_deadline;
    if (request.stage != TrialStage::measure && !progress_.has_prepared(request)) {
      total += options_.compile_deadline +
               std::max(options_.executor.reference_deadline,
                        request.deadline + options_.executor.first_run_allowance);
    }
    if (runs_candidate) {
      const Nanoseconds run =
          request.deadline.count() > 0 ? request.deadline : options_.stage_deadline;
      std::uint32_t runs = 1;  // the check, or a warm-up
      if (request.stage == TrialStage::measure) {
        runs += std::min(request.repeats, kMaxCountedRepeats);
      }
      // That takes long, and is checked twice.
      if (package_->setup_count() > 0) runs += 1 + kSetupDeadlines;
      total += options_.executor.first_run_allowance + run * runs;
    }
    return total;
  }

  // The payload of the next message, which is to be of `type`. Errors: timeout, not_found (hung
  // up), corrupt, io_error; busy when the destructor wants the thread back. For `may_starve` see
  // has_starved.
  Status receive(MessageType type, Nanoseconds deadline, std::vector<std::uint8_t>& payload,
                 bool may_starve = false) {
    std::uint8_t header[wire::kHeaderBytes];
    Status status = receive_header(header, deadline, may_starve);
    if (!status.ok()) return status;
    const Result<wire::Header> decoded = wire::decode_header(Bytes(header));
    if (!decoded) return decoded.status();
    if (decoded->type != type) {
      return Status(StatusCode::corrupt, "helper message: not the type that was expected");
    }
    payload.resize(decoded->payload_bytes);
    if (!payload.empty()) status = child_->channel().receive_all(MutableBytes(payload), kTransfer);
    return status.ok() ? wire::verify_payload(Bytes(header), payload) : status;
  }

  // Whether a helper of low priority got less than half of `deadline` in processor time, because
  // the application kept the processors busy: that is no fault of the configuration. Bounded, since
  // one that waits for a hung driver uses no processor time either.
  bool has_starved(Nanoseconds elapsed, Nanoseconds deadline, Nanoseconds cpu_before) const {
    const Nanoseconds cpu = child_->cpu_time();
    return cpu.count() > 0 && idletune::has_starved(elapsed, deadline, cpu - cpu_before);
  }

  Status receive_header(MutableBytes header, Nanoseconds deadline, bool may_starve) {
    AwakeTime awake;
    Status status = receive_header(header, deadline, may_starve, awake);
    frozen_ += awake.frozen();
    return status;
  }

  Status receive_header(MutableBytes header, Nanoseconds deadline, bool may_starve,
                        AwakeTime& awake) {
    const Nanoseconds cpu_before = may_starve ? child_->cpu_time() : Nanoseconds(0);
    for (;;) {
      const Nanoseconds elapsed = awake.until();
      Nanoseconds left = deadline - elapsed;
      if (left.count() <= 0 && may_starve && has_starved(elapsed, deadline, cpu_before)) {
        left = deadline * kLongestStarving - elapsed;
      }
      if (left.count() <= 0) return Status(StatusCode::timeout, "no answer from the helper");
      const Result<std::size_t> got =
          child_->channel().receive(header.subspan(0, 1), std::min(left, AwakeTime::kSlice));
      if (got.ok()) return receive_rest(header);
      if (got.code() != StatusCode::timeout) return got.status();
      if (stopping_.load()) return Status(StatusCode::busy, "stopped");
    }
  }

  // Of a header, after its first byte, which may also be a farewell.
  Status receive_rest(MutableBytes header) {
    if (child_->take_farewell(header[0])) return Status(StatusCode::not_found, "it failed");
    return child_->channel().receive_all(header.subspan(1), kTransfer);
  }

  const DeviceInfo device_;
  const std::shared_ptr<const KernelPackage> package_;
  HelperTrialsOptions options_;
  bool has_local_outcome_ = false;
  TrialOutcome local_outcome_;

  mutable Mutex mutex_;
  std::uint32_t start_failures_ IDLETUNE_GUARDED_BY(mutex_) = 0;
  std::string last_failure_ IDLETUNE_GUARDED_BY(mutex_);

  std::atomic<bool> stopping_{false};
  // The supervising thread's while a stage runs, else the caller's.
  std::unique_ptr<ChildProcess> child_;
  bool reference_ran_ = false;  // in this child
  Nanoseconds frozen_{0};       // in this stage
  Progress progress_;
  std::unique_ptr<trial::StageThread> thread_;  // last: joined before the rest is gone
};

HelperTrials::HelperTrials(const DeviceInfo& device,
                           const std::shared_ptr<const KernelPackage>& package,
                           const HelperTrialsOptions& options)
    : state_(new State(device, package, options)) {}
HelperTrials::~HelperTrials() = default;

Status HelperTrials::start(const TrialRequest& request) { return state_->start(request); }
bool HelperTrials::poll(Nanoseconds wait, TrialOutcome& outcome) {
  return state_->poll(wait, outcome);
}
void HelperTrials::reap() { state_->reap(); }

Result<std::string> helper_program(const std::string& option, bool in_path) {
  if (is_program(option)) return option;
  const char* path = in_path ? environment("PATH") : nullptr;
  Result<std::string> found =
      option.empty()
          ? find_helper(path == nullptr ? "" : path)
          : Status(StatusCode::not_found, "'%': expected the program %", option, kProgramName);
  if (found) return found;
  return Status(found.code(), "%; name another by the option 'helper' or IDLETUNE_HELPER",
                found.status().message());
}

Result<std::string> find_helper(const std::string& search_path) {
  std::string found, places;
  const auto look = [&](const std::string& folder) {
    const std::string path = joined("%/%", folder, kProgramName);
    if (found.empty() && is_program(path)) found = path;
    append(places, places.empty() ? "%" : ", %", folder);
  };
  const Result<std::string> own = self_executable_folder();
  if (own) look(*own);
  look(IDLETUNE_INSTALLED_PROGRAMS);
  for (std::size_t start = 0; start < search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', start), search_path.size());
    if (end > start) look(search_path.substr(start, end - start));
    start = end + 1;
  }
  if (!found.empty()) return found;
  return Status(StatusCode::not_found, "%: expected it in one of %", kProgramName, places);
}

}  // namespace idletune
