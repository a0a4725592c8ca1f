#include "agent/api/agent_state.hpp"

#include <algorithm>
#include <cmath>

#include "agent/api/explain_json.hpp"
#include "agent/journal/event_sink.hpp"
#include "models/core/lists.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/boot.hpp"
#include "platform/os/storage.hpp"

namespace idletune::detail {
namespace {

// Where compiled programs are kept unless the application names a folder.
std::string program_folder(const AgentOptions& options) { return options.state + "/programs"; }

constexpr char kExplanationName[] = "explain.json";  // in the state folder
// As often as the journal writes its notes; once soon, for whoever has just started it.
constexpr Nanoseconds kExplanationInterval = std::chrono::seconds(60);
constexpr Nanoseconds kFirstExplanation = std::chrono::seconds(5);

Status out_of_range(const char* field, const char* expected) {
  return Status(StatusCode::invalid_argument, "agent option %: expected %", field, expected);
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
  agent->mend_options();
  find_surroundings(agent->options_, agent->surroundings_);
  if (Status status = agent->start(); !status.ok()) return status;
  return agent;
}

Result<std::unique_ptr<AgentState>> AgentState::open(const AgentOptions& options,
                                                     Surroundings surroundings) {
  std::unique_ptr<AgentState> agent(new AgentState());
  agent->options_ = options;
  agent->mend_options();
  agent->surroundings_ = std::move(surroundings);
  if (Status status = agent->start(); !status.ok()) return status;
  return agent;
}

Result<Agent> AgentState::open_agent(const AgentOptions& options, Surroundings surroundings) {
  Result<std::unique_ptr<AgentState>> agent = open(options, std::move(surroundings));
  if (!agent.ok()) return agent.status();
  return Agent(std::move(*agent));
}

// What is meant, whatever becomes of the working folder, and without times that overflow in sums.
void AgentState::mend_options() {
  constexpr Nanoseconds kLongest = std::chrono::hours(24);
  for (std::string* path : {&options_.state, &options_.helper, &options_.quirks}) {
    *path = absolute_path(*path);
  }
  if (options_.model != kNoModel) options_.model = absolute_path(options_.model);
  options_.run_deadline = std::min<Nanoseconds>(options_.run_deadline, kLongest);
  options_.model_check_interval = std::min<Nanoseconds>(options_.model_check_interval, kLongest);
}

Status AgentState::start() {
  if (Status status = check(options_); !status.ok()) return status;
  open_journal();
  models_ = std::make_unique<AgentModels>(options_, *surroundings_.clock, *this);
  models_->open();
  engine_ = std::make_unique<TuningEngine>(options_, *journal_, surroundings_);
  explanation_due_ = surroundings_.clock->now() + kFirstExplanation;
  return {};
}

void AgentState::open_journal() {
  journal::JournalOptions options;
  options.boot = surroundings_.boot ? *surroundings_.boot : boot_identity();
  options.events = options_.events;
  options.trace = [this](std::uint64_t session, std::vector<journal::Begun>& begun) {
    return open_trace(session, begun);
  };
  const bool kept = !options_.state.empty() && options_.mode != Mode::off;
  Result<std::unique_ptr<Storage>> storage = std::unique_ptr<Storage>();
  if (surroundings_.played != nullptr) {
    storage = surroundings_.played->storage();
  } else if (kept) {
    storage = open_posix_storage(options_.state);
  }
  journal_ = journal::Journal::open(std::move(storage), options);
  if (kept && journal_->storage_status().ok()) tidy_state();
  if (trace_ != nullptr && journal_->storage_status().ok()) trace_->forget();
  const journal::RecoveryReport& found = journal_->recovery();
  if (const Status damage = journal_->damage(); !damage.ok())
    tell(options_, 1, "%", damage.message());
  if (found.new_quarantines > 0 || found.new_suspects > 0) {
    tell(options_, 1,
         "the last process or board died in trials; quarantined for it: %, suspected: %",
         found.new_quarantines, found.new_suspects);
  }
  if (found.dropped_bytes > 0) {
    tell(options_, 2, "the journal's last % bytes were torn and are dropped", found.dropped_bytes);
  }
}

bool AgentState::open_trace(std::uint64_t session, std::vector<journal::Begun>& begun) {
  LaunchTrace::Page* page = nullptr;
  if (surroundings_.played != nullptr) {
    page = surroundings_.played->trace();
  } else {
    Result<std::unique_ptr<MemoryFile>> file =
        MemoryFile::open(options_.state, sizeof(LaunchTrace::Page), MemoryFile::usual_places());
    if (!file.ok()) {
      tell(options_, 1, "nothing runs for its class: %", file.status().message());
      return false;
    }
    trace_file_ = std::move(*file);
    page = static_cast<LaunchTrace::Page*>(trace_file_->data());
  }
  if (page == nullptr) return false;
  trace_ = std::make_unique<LaunchTrace>(*page, session + 1);
  surroundings_.trace = trace_.get();
  const Nanoseconds now = surroundings_.clock->now();
  for (const LaunchTrace::Unended& each : trace_->unended()) {
    if (!each.accuses(now)) continue;
    push(begun, {each.who, each.shape, static_cast<journal::Where>(each.place)});
  }
  return session != 0 && trace_->last_session() == session;
}

// Nobody else has the lock on it.
void AgentState::tidy_state() const {
  static constexpr std::string_view kOwn[] = {
      journal::kJournalName, kExplanationName, "captures", "programs", "models", "incoming"};
  tidy_folder(options_.state, kOwn);
  tidy_folder(joined("%/captures", options_.state));
  tidy_folder(program_folder(options_));
}

bool AgentState::tunes() {
  if (!mutex_.try_lock()) return true;
  mutex_.unlock();
  return false;
}

std::vector<std::uint8_t> AgentState::kept_models() const {
  const MutexLock lock(mutex_);
  const Bytes record = journal_->state().models();
  return {record.begin(), record.end()};
}

Status AgentState::keep_models(Bytes record, bool wait) {
  const MutexLock lock(mutex_);
  journal_->models(record);
  if (!wait) {
    if (engine_ != nullptr) engine_->begin_write();
  } else if (engine_ != nullptr) {
    engine_->note(true);
  } else {
    (void)journal_->sync();
  }
  return journal_->storage_status();
}

std::pair<std::string, bool> AgentState::model_folder() const {
  const MutexLock lock(mutex_);
  return {surroundings_.played != nullptr ? std::string() : options_.state,
          journal_->storage_status().ok()};
}

void AgentState::look_at(const Look& look) const {
  const MutexLock lock(mutex_);
  if (engine_ == nullptr) return look(journal_->state(), {});
  look(journal_->state(), {engine_->kernels().data(), engine_->kernels().size()});
}

void AgentState::use_model(const std::shared_ptr<const Model>& model, const ModelStanding& standing,
                           const Status& status) {
  bool is_news = false;
  {
    const MutexLock lock(mutex_);
    model_standing_ = standing;
    is_news = !status.ok() && status.message() != model_status_.message();
    model_status_ = status;
    const bool is_other = model_ != model;
    model_ = model;
    if (is_other && engine_ != nullptr) engine_->use_model(model_);
  }
  if (is_news) tell(options_, 1, "%", status.message());
}

AgentState::~AgentState() {
  const TellsAfter events(options_.events);
  stop_background();
  if (engine_ == nullptr) return;
  models_->end();
  std::string explanation;
  {
    const MutexLock lock(mutex_);
    engine_->release_device();
    engine_->note(false);
    explanation = explanation_to_keep();
    engine_.reset();
    (void)journal_->shutdown();
    tell_if_displaced();
    // Nothing is in anybody's hands, and the journal is still ours.
    if (trace_file_ != nullptr && journal_->storage_status().ok()) trace_file_->remove();
  }
  if (const Status kept = write_explanation(explanation); !kept.ok()) {
    tell(options_, 1, "%", kept.message());
  }
}

Result<KernelState*> AgentState::kernel(Device& device, std::vector<std::uint8_t> bytes,
                                        const std::string& file_name, Called* called) {
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
  KernelTask& task = engine_->add_kernel(std::move(*kernel), model_);
  task.state->log_launches(launch_log_clock_);
  if (called != nullptr) {
    called_.push_front(std::move(called->device));
    task.called = true;
    task.runner = std::move(called->trials);
    task.runner_status = Status();
    task.in_place = called->in_place;
  } else if (!surroundings_.trials.ok()) {
    tell(options_, 1, "%", surroundings_.trials.message());
  }
  return task.state.get();
}

Status AgentState::call_failed(KernelState& kernel, const Shape& problem,
                               const Configuration& configuration, const Measurement& measurement) {
  const MutexLock lock(mutex_);
  const Result<ShapeTask*> task = shape_task(TunerLock(lock), kernel, problem);
  if (!task.ok()) return task.status();
  engine_->call_failed(**task, configuration, measurement);
  return {};
}

IdleReport AgentState::idle(Nanoseconds budget, TimeSource source) {
  const TellsAfter events(options_.events);
  budget -= models_->look();
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
  status.journal = journal_->damage();
  status.journal_dropped_bytes = found.dropped_bytes;
  status.new_suspects = found.new_suspects;
  status.new_quarantines = found.new_quarantines;
  status.model = model_status_;
  status.model_standing = model_standing_;
  if (model_ == nullptr) return status;
  status.model_generation = model_->generation();
  status.model_digest = model_->content_digest();
  return status;
}

Status AgentState::flush() {
  const TellsAfter events(options_.events);
  std::string explanation;
  Status storage;
  {
    const MutexLock lock(mutex_);
    if (late_notes_ != nullptr) late_notes_->enter();
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

// Once: all that is known is written anew.
void AgentState::tell_if_displaced() {
  if (displaced_told_ || !journal_->outbox().displaced()) return;
  displaced_told_ = true;
  tell(options_, 1, "%", journal_->damage().message());
}

void AgentState::explain_if_due() {
  tell_if_displaced();
  if (options_.events != nullptr) options_.events->looked(journal_->storage_status());
  const Nanoseconds now = surroundings_.clock->now();
  if (now < explanation_due_ || !engine_->worker_rests()) return;
  explanation_due_ = now + kExplanationInterval;
  engine_->run_errand(
      [this, text = explanation_to_keep()] { (void)write_explanation(text, FileSync::no); });
}

Status AgentState::write_explanation(const std::string& text, FileSync sync) const {
  if (text.empty()) return {};
  return write_state_file(surroundings_, joined("%/%", options_.state, kExplanationName),
                          Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()),
                          sync);
}

// --- one kernel ---

Result<SlotRef> slot_for(TunerLock lock, KernelState& kernel, const Shape& shape) {
  Result<SlotRef> slot = kernel.slot_for(lock, shape);
  if (!slot.ok() || *slot) return slot;
  return Status(StatusCode::out_of_memory,
                "kernel '%': more shapes than the option max_shapes allows", kernel.name());
}

Result<ShapeTask*> AgentState::shape_task(TunerLock lock, KernelState& kernel, const Shape& shape) {
  const Result<SlotRef> slot = slot_for(lock, kernel, shape);
  if (!slot.ok()) return slot.status();
  KernelTask* task = engine_->task_of(kernel);
  ShapeTask* shape_task = task != nullptr ? engine_->shape_task(*task, **slot) : nullptr;
  if (shape_task == nullptr) {
    return Status(StatusCode::internal, "kernel '%': the shape has no task", kernel.name());
  }
  return shape_task;
}

Status AgentState::prepare(KernelState& kernel, const Shape& shape) {
  const TellsAfter events(options_.events);
  const MutexLock lock(mutex_);
  const Result<ShapeTask*> made = shape_task(TunerLock(lock), kernel, shape);
  if (!made.ok()) return kernel.package().has_no_work(shape) ? Status() : made.status();
  ShapeTask* const task = *made;
  const TaskLease lease(*task);
  engine_->publish_recalled(*task);
  if (options_.mode == Mode::tune && task->variants.adopted() == nullptr) {
    // Work that an earlier idle() began for another shape is finished first.
    while (engine_->run(std::chrono::hours(1), TimeSource::start_up, task).stages > 0) {
    }
  }
  engine_->launch_ahead(*task);
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
  return Status(StatusCode::not_found, "kernel '%': no slot has this shape", kernel.name());
}

std::vector<Shape> AgentState::shapes(KernelState& kernel) const {
  std::vector<Shape> result;
  const MutexLock lock(mutex_);
  LaunchTable& table = kernel.table();
  for (std::size_t i = 0; i < table.capacity(); ++i) {
    ShapeSlot* slot = table.at(i);
    if (slot != nullptr && table.find(TunerLock(lock), slot->shape, slot->hash).is(*slot))
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
  ExplanationText text;
  for (const std::unique_ptr<KernelTask>& kernel : engine_->kernels()) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) text.add(engine_->explain(*task));
  }
  return text.finish(status_locked());
}

}  // namespace idletune::detail
