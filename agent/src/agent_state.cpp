#include "agent/src/agent_state.hpp"

#include <algorithm>
#include <cmath>

#include "agent/src/explain_json.hpp"
#include "agent/tuning/background_loop.hpp"
#include "platform/os/boot.hpp"
#include "platform/os/storage.hpp"

namespace idletune::detail {
namespace {

constexpr char kExplanationName[] = "explain.json";  // in the state folder
// As often as the journal writes its notes; once soon, for whoever has just started it.
constexpr Nanoseconds kExplanationInterval = std::chrono::seconds(60);
constexpr Nanoseconds kFirstExplanation = std::chrono::seconds(5);

Status out_of_range(const char* field, const char* expected) {
  return Status(StatusCode::invalid_argument, {"agent option ", field, ": expected ", expected});
}

// Written so that NaN fails.
bool within(double value, double low, double high) { return value >= low && value <= high; }

Status check(const AgentOptions& options) {
  if (!within(options.idle_cost, 0, 1000)) return out_of_range("idle_cost", "0 to 1000");
  if (!within(options.compile_cost, 0, 1000)) return out_of_range("compile_cost", "0 to 1000");
  if (!within(options.max_compile_share, 0, 1)) return out_of_range("max_compile_share", "0 to 1");
  if (!within(options.overhead_limit, 0, 1)) return out_of_range("overhead_limit", "0 to 1");
  if (!within(options.adoption_margin, 0, 0.9)) return out_of_range("adoption_margin", "0 to 0.9");
  if (!within(options.well_performing_ratio, 0.01, 1)) {
    return out_of_range("well_performing_ratio", "0.01 to 1");
  }
  if (!within(options.wanted_probability, 0.01, 0.9999)) {
    return out_of_range("wanted_probability", "0.01 to 0.9999");
  }
  if (!within(options.unknown_horizon, 0, 1e9)) return out_of_range("unknown_horizon", "0 to 1e9");
  if (options.max_shapes < 1 || options.max_shapes > 4096) {
    return out_of_range("max_shapes", "1 to 4096");
  }
  if (options.run_deadline.count() <= 0) return out_of_range("run_deadline", "more than 0");
  return {};
}

}  // namespace

Result<std::unique_ptr<AgentState>> AgentState::open(const AgentOptions& given) {
  std::unique_ptr<AgentState> agent(new AgentState());
  agent->options_ = given;
  if (given.read_environment) {
    if (Status status = apply_environment(agent->options_); !status.ok()) return status;
  }
  agent->surroundings_ = real_surroundings(agent->options_);
  if (Status status = agent->start(); !status.ok()) return status;
  return agent;
}

Result<Agent> AgentState::open_agent(const AgentOptions& options, Surroundings surroundings) {
  std::unique_ptr<AgentState> agent(new AgentState());
  agent->options_ = options;
  agent->surroundings_ = std::move(surroundings);
  if (Status status = agent->start(); !status.ok()) return status;
  return Agent(std::move(agent));
}

Status AgentState::start() {
  if (Status status = check(options_); !status.ok()) return status;
  open_model();
  open_journal();
  if (!surroundings_.trials.ok()) log(1, {surroundings_.trials.message()});
  engine_ = std::make_unique<TuningEngine>(options_, *journal_, surroundings_);
  explanation_due_ = surroundings_.clock->now() + kFirstExplanation;
  return {};
}

void AgentState::open_journal() {
  journal::JournalOptions options;
  options.boot = boot_identity();
  if (options_.state.empty() || options_.mode == Mode::off) {
    journal_ = journal::Journal::open(std::unique_ptr<Storage>(), options);
  } else {
    journal_ = journal::Journal::open(open_posix_storage(options_.state), options);
  }
  const journal::RecoveryReport& found = journal_->recovery();
  if (const Status damage = found.damage(); !damage.ok()) log(1, {damage.message()});
  if (found.new_quarantines > 0 || found.new_suspects > 0) {
    log(1, {"the last process or board died during trials; quarantined for it: ",
            found.new_quarantines, ", suspected: ", found.new_suspects});
  }
  if (found.dropped_bytes > 0) {
    log(2, {"the journal's last ", found.dropped_bytes, " bytes were torn and are dropped"});
  }
}

void AgentState::log(int level, TextPieces message) const {
  if (options_.log != nullptr && level <= options_.log_level) {
    options_.log(options_.log_user, level, joined(message).c_str());
  }
}

AgentState::~AgentState() {
  stop_background();
  if (engine_ == nullptr) return;
  std::string explanation;
  {
    const MutexLock lock(mutex_);
    engine_->release_device();
    engine_->note(false);
    explanation = explanation_to_keep();
    engine_.reset();
    (void)journal_->shutdown();
  }
  (void)write_explanation(explanation);
}

Result<KernelState*> AgentState::kernel(Device& device, std::vector<std::uint8_t> bytes,
                                        const std::string& file_name) {
  Result<std::shared_ptr<const KernelPackage>> package =
      KernelPackage::open(std::move(bytes), file_name);
  if (!package.ok()) return package.status();
  const MutexLock lock(mutex_);
  engine_->release_device();
  if (!options_.state.empty() && options_.mode != Mode::off) {
    device.keep_programs_in(program_folder(options_));
  }
  Result<std::unique_ptr<KernelState>> kernel =
      KernelState::create(device, *package, options_.max_shapes, options_.scratch_limit_bytes);
  if (!kernel.ok()) return kernel.status();
  KernelTask& task = engine_->add_kernel(std::move(*kernel), model_.model);
  task.state->log_launches(launch_log_clock_);
  return task.state.get();
}

IdleReport AgentState::idle(Nanoseconds budget, TimeSource source) {
  budget -= notice_new_model();
  if (!mutex_.try_lock()) {
    IdleReport report;
    report.why = "another thread is tuning";
    return report;
  }
  IdleReport report;
  {
    const AdoptedLock lock(mutex_);
    if (source == TimeSource::idle) engine_->set_longest_gap(offered_gaps_.add(budget));
    report = engine_->run(budget, source);
    explain_if_due();
  }
  return report;
}

AgentStatus AgentState::status() const {
  const MutexLock lock(mutex_);
  return status_locked();
}

AgentStatus AgentState::status_locked() const {
  AgentStatus status = engine_->status();
  const journal::RecoveryReport& found = journal_->recovery();
  status.journal = found.damage();
  status.journal_dropped_bytes = found.dropped_bytes;
  status.new_suspects = found.new_suspects;
  status.new_quarantines = found.new_quarantines;
  fill_model_status(status);
  return status;
}

Status AgentState::flush() {
  std::string explanation;
  Status storage;
  {
    const MutexLock lock(mutex_);
    engine_->note(true);
    explanation = explanation_to_keep();
    storage = journal_->storage_status();
  }
  if (Status status = write_explanation(explanation); !status.ok()) return status;
  return storage;
}

std::string AgentState::explanation_to_keep() const {
  const bool keep =
      !options_.state.empty() && options_.mode != Mode::off && journal_->storage_status().ok();
  return keep ? explain_locked() : std::string();
}

void AgentState::explain_if_due() {
  const Nanoseconds now = surroundings_.clock->now();
  if (now < explanation_due_ || !engine_->worker_rests()) return;
  explanation_due_ = now + kExplanationInterval;
  engine_->run_errand(
      [this, text = explanation_to_keep()] { (void)write_explanation(text, FileSync::no); });
}

Status AgentState::write_explanation(const std::string& text, FileSync sync) const {
  if (text.empty()) return {};
  return write_file_atomically(
      joined({options_.state, "/", kExplanationName}),
      Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), sync);
}

// --- one kernel ---

Status AgentState::prepare(KernelState& kernel, const Shape& shape) {
  const MutexLock lock(mutex_);
  Result<ShapeSlot*> slot = kernel.slot_for(shape);
  if (!slot.ok()) {
    if (kernel.package().has_no_work(shape)) return {};
    if (slot.code() != StatusCode::out_of_memory) return slot.status();
    return Status(StatusCode::out_of_memory,
                  {"kernel '", kernel.name(), "': more shapes than the option max_shapes allows"});
  }
  KernelTask* task = engine_->task_of(kernel);
  ShapeTask* shape_task = task != nullptr ? engine_->shape_task(*task, **slot) : nullptr;
  if (shape_task == nullptr) return Status(StatusCode::internal, "prepare: the shape has no task");
  engine_->publish_recalled(*shape_task);
  if (options_.mode == Mode::tune && shape_task->variants.adopted() == nullptr) {
    // Work that an earlier idle() began for another shape is finished first.
    while (engine_->run(std::chrono::hours(1), TimeSource::start_up, shape_task).stages > 0) {
    }
  }
  engine_->launch_ahead(*shape_task);
  return {};
}

void AgentState::allow_in_place(KernelState& kernel, const InPlaceOptions& options) {
  const MutexLock lock(mutex_);
  if (KernelTask* task = engine_->task_of(kernel)) task->in_place = options;
}

Result<Explanation> AgentState::explain(const KernelState& kernel, const Shape& shape) const {
  const MutexLock lock(mutex_);
  engine_->notice_new_shapes();
  for (const std::unique_ptr<KernelTask>& task : engine_->kernels()) {
    if (task->state.get() != &kernel) continue;
    for (const std::unique_ptr<ShapeTask>& shape_task : task->shapes) {
      if (shape_task->slot.shape == shape) return engine_->explain(*shape_task);
    }
  }
  return Status(StatusCode::not_found,
                {"kernel '", kernel.name(), "': this shape was neither launched nor prepared"});
}

std::vector<Shape> AgentState::shapes(KernelState& kernel) const {
  std::vector<Shape> result;
  const MutexLock lock(mutex_);
  LaunchTable& table = kernel.table();
  for (std::size_t i = 0; i < table.capacity(); ++i) {
    ShapeSlot* slot = table.at(i);
    if (slot != nullptr && table.find(slot->shape, slot->hash) == slot)
      result.push_back(slot->shape);
  }
  return result;
}

std::string AgentState::explain_json() const {
  const MutexLock lock(mutex_);
  return explain_locked();
}

std::string AgentState::explain_locked() const {
  engine_->notice_new_shapes();
  std::vector<Explanation> all;
  for (const std::unique_ptr<KernelTask>& kernel : engine_->kernels()) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes)
      all.push_back(engine_->explain(*task));
  }
  return to_json(status_locked(), all);
}

// --- background ---

Status AgentState::start_background(const BackgroundOptions& options) {
  if (options_.mode != Mode::tune) {
    log(2, {"background tuning does not start: the mode is not 'tune'"});
    return {};  // whoever sets the mode in the field must not end the application
  }
  const MutexLock control(control_mutex_);
  if (background_thread_.joinable()) {
    return Status(StatusCode::busy, "background tuning runs already");
  }
  {
    const MutexLock lock(background_mutex_);
    stop_background_ = false;
  }
  log_launches(surroundings_.clock);
  Result<Thread> thread = Thread::start("idletune", ThreadPriority::low,
                                        [this, options] { tune_in_background(options); });
  if (!thread.ok()) {
    log_launches(nullptr);
    return thread.status();
  }
  background_thread_ = std::move(*thread);
  return {};
}

void AgentState::stop_background() {
  const MutexLock control(control_mutex_);
  if (!background_thread_.joinable()) return;
  {
    const MutexLock lock(background_mutex_);
    stop_background_ = true;
  }
  background_changed_.notify_all();
  background_thread_.join();
  log_launches(nullptr);
}

// Of all kernels, those that come later included.
void AgentState::log_launches(const MonotonicClock* clock) {
  const MutexLock lock(mutex_);
  launch_log_clock_ = clock;
  for (const std::unique_ptr<KernelTask>& kernel : engine_->kernels()) {
    kernel->state->log_launches(clock);
  }
}

void AgentState::tune_in_background(const BackgroundOptions& options) {
  TuningEngine* engine = nullptr;
  {
    const MutexLock lock(mutex_);
    engine = &*engine_;
  }
  BackgroundLoop loop(*engine, options, surroundings_);  // rounds hold mutex_
  while (!background_stops()) {
    (void)notice_new_model();
    Nanoseconds sleep{0};
    {
      const MutexLock tuning(mutex_);
      sleep = loop.round();
      explain_if_due();
    }
    const auto until = std::chrono::system_clock::now() + sleep;
    const MutexLock lock(background_mutex_);
    while (!stop_background_ && background_changed_.wait_until(background_mutex_, until)) {
    }
  }
}

bool AgentState::background_stops() {
  const MutexLock lock(background_mutex_);
  return stop_background_;
}

}  // namespace idletune::detail
