#include "tests/lives/process.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <variant>

#include "agent/api/agent_state.hpp"
#include "agent/calls/called_device.hpp"
#include "agent/tuning/background_loop.hpp"
#include "models/package/captured_arguments.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/lives/journals.hpp"
#include "tests/lives/played_parts.hpp"

namespace idletune::lives {

using detail::ShapeSlot, detail::ShapeTask, detail::TimeSource;

struct Process::Inside {
  explicit Inside(const ProcessParts& parts) : slots(parts.disk) {}
  PlayedSlots slots;                    // outlives the agent
  std::unique_ptr<PlayedParts> played;  // outlives the agent
  std::unique_ptr<detail::AgentState> agent;
  detail::KernelState* kernel = nullptr;
  const World::Package* package = nullptr;
  std::vector<char> buffers;  // one for each shape
  char weights[2] = {}, queues[2] = {};
  int versions[2] = {}, weight = 0, queue = 0;
  char indices = 0;  // what the application may lend
  std::shared_ptr<PlayedTime> time;
  std::shared_ptr<PlayedDevice> device;
  detail::Surroundings surroundings;
  std::unique_ptr<detail::BackgroundLoop> loop;  // before the agent goes

  detail::TuningEngine& engine() const { return agent->engine(); }
  const journal::State& state() const { return agent->journal().state(); }
  // Shapes have tasks from the kernel's loading on.
  const std::vector<std::unique_ptr<ShapeTask>>& tasks() const {
    static const std::vector<std::unique_ptr<ShapeTask>> none;
    return engine().kernels().empty() ? none : engine().kernels().front()->shapes;
  }
  const ShapeTask* task_of(const Shape& shape) const {
    for (const auto& task : tasks())
      if (task->slot.shape == shape) return task.get();
    return nullptr;
  }
  const ShapeSlot* slot_of(const Shape& shape) const {
    const auto slot =
        kernel->table().find(detail::TunerLock::held(), shape, detail::LaunchTable::hash(shape));
    return slot ? &*slot : nullptr;
  }
  std::array<Argument, 2> arguments(int s, bool captures) {
    void* const second = captures ? &indices : &weights[weight];
    return {Argument(static_cast<void*>(&buffers[static_cast<std::size_t>(s)])), Argument(second)};
  }
  JournalReader medium;  // what of the journal is on it
  // Digests of all trials, made once.
  std::vector<journal::TrialKey> keys;
  int shapes = 0;
  const journal::TrialKey& key_of(int c, int s) const {
    return keys[static_cast<std::size_t>(c * shapes + s)];
  }
  journal::Trial plain_trial_of(const World& world, int c, int s) const {
    journal::Trial trial;
    trial.kernel = package->read->digest();
    trial.device = device->info().device_key();
    trial.driver = device->info().driver_key();
    trial.configuration = world.configuration(c);
    trial.shape = world.shape(s);
    return trial;
  }
  // On the data that the shape is tuned on.
  journal::Trial trial_of(const World& world, int c, int s) const {
    journal::Trial trial = plain_trial_of(world, c, s);
    if (!world.captures) return trial;
    const ShapeTask* task = task_of(trial.shape);
    std::uint8_t beginning[CapturedArguments::kBeginningBytes];
    const std::string path = engine().capture_path(*kernel, trial.shape);
    if (task != nullptr) {
      trial.data = task->identity.data;
    } else if (read_state_file(surroundings, path, beginning)) {
      trial.data = CapturedArguments::digest_in(beginning);
    }
    return trial;
  }
  void make_keys(const World& world) {
    shapes = world.shapes();
    for (int c = 0; c < world.count(); ++c)
      for (int s = 0; s < shapes; ++s) keys.push_back(plain_trial_of(world, c, s).key());
  }
};

const char* name_of(Role role) {
  static const char* const names[] = {"candidate", "incumbent", "recheck"};
  return names[static_cast<int>(role)];
}
const char* name_of(Runs runs) {
  static const char* const names[] = {"default", "adopted",   "class",
                                      "racer",   "unslotted", "unpublished"};
  return names[static_cast<int>(runs)];
}

// --- what applications do ---

Process::Process(const ProcessParts& parts)
    : parts_(parts), world_(*parts.world), inside_(std::make_unique<Inside>(parts)) {
  Inside& in = *inside_;
  in.time = parts.time;
  in.buffers.resize(world_.sizes.size());
  in.device = parts.device;
  in.package = parts.package;
  in.make_keys(world_);
  in.surroundings.clock = in.time.get();
  in.surroundings.builds =
      world_.worker ? detail::BuildThread::worker : detail::BuildThread::caller;
  in.played = std::make_unique<PlayedParts>(parts_);
  in.surroundings.played = in.played.get();
  in.surroundings.boot = parts.boot;
  in.surroundings.read_board = [load = parts.gpu_load] {
    BoardState board;
    board.gpu_load = load();
    return board;
  };
  if (parts.quirk > 0) in.surroundings.quirks = world_.quirks_naming(parts.quirk);
  in.surroundings.make_trial_runner = [make = parts.make_runner](
                                          Device&, const std::shared_ptr<const KernelPackage>&)
      -> Result<std::unique_ptr<TrialRunner>> { return make(); };
}

void Process::start() {
  Inside& in = *inside_;
  AgentOptions options = parts_.options;
  if (world_.slots) options.slots = &in.slots;
  in.agent = std::move(*detail::AgentState::open(options, in.surroundings));
  detail::AgentState::Called called{nullptr, std::make_unique<detail::CallTrials>(), {true, 0.05}};
  auto kernel =
      in.agent->kernel(*in.device, in.package->bytes, "played", world_.called ? &called : nullptr);
  if (!kernel.ok()) {
    std::fprintf(stderr, "lives: %s\n", kernel.status().to_string().c_str());
    std::abort();
  }
  in.kernel = *kernel;
  if (parts_.model != nullptr) in.engine().use_model(parts_.model);
  allow_in_place(parts_.in_place);
}

Process::~Process() {
  inside_->time->drain();
  inside_->loop.reset();
}

Status Process::launch(int s) {
  const std::array<Argument, 2> arguments = inside_->arguments(s, world_.captures);
  LaunchOptions options;
  if (inside_->queue != 0) options.queue = &inside_->queues[inside_->queue];
  if (world_.called) options.event = &inside_->buffers[static_cast<std::size_t>(s)];
  const std::size_t count = world_.called ? 0 : world_.setups || world_.captures ? 2 : 1;
  return inside_->kernel->launch(options, world_.shape(s), {arguments.data(), count});
}

void Process::call_failed(int c, int s, const Measurement& measurement) {
  (void)inside_->agent->call_failed(*inside_->kernel, world_.shape(s), world_.configuration(c),
                                    measurement);
}

void Process::capture(int s, int data) {
  inside_->indices = static_cast<char>(data);
  const std::array<Argument, 2> arguments = inside_->arguments(s, true);
  (void)inside_->agent->capture(*inside_->kernel, world_.shape(s), {arguments.data(), 2});
}

void Process::use(int constants, int queue) {
  inside_->weight = constants;
  inside_->queue = queue;
}

void Process::constants_change() {
  ++inside_->versions[inside_->weight];
  for (int s = 0; s < world_.shapes(); ++s) inside_->kernel->constants_changed(world_.shape(s));
}

std::pair<const void*, int> Process::constants() const {
  return {&inside_->weights[inside_->weight], inside_->versions[inside_->weight]};
}

int Process::shape_of(const void* buffer) const {
  return static_cast<int>(static_cast<const char*>(buffer) - inside_->buffers.data());
}

IdleReport Process::idle(Nanoseconds budget) {
  return inside_->agent->idle(budget, TimeSource::idle);
}

IdleReport Process::tune(Nanoseconds budget) {
  return inside_->agent->idle(budget, TimeSource::foreground);
}

Nanoseconds Process::background_round() {
  Inside& in = *inside_;
  if (in.loop == nullptr) {
    in.kernel->log_launches(in.time.get());
    in.loop =
        std::make_unique<detail::BackgroundLoop>(in.engine(), BackgroundOptions{}, in.surroundings);
  }
  return in.loop->round();
}

void Process::prepare(int s) { (void)inside_->agent->prepare(*inside_->kernel, world_.shape(s)); }

void Process::expect(int s, double launches) {
  inside_->kernel->expect_launches(world_.shape(s), launches);
}

void Process::explain() const { (void)inside_->agent->explain_json(); }

Status Process::flush() { return inside_->agent->flush(); }

void Process::use_model(const std::shared_ptr<const Model>& model) {
  inside_->engine().use_model(model);
}

Status Process::confirm_model() { return inside_->agent->models().confirm(); }
Status Process::reject_model() { return inside_->agent->models().reject("chance"); }

void Process::allow_in_place(bool allowed) {
  inside_->agent->allow_in_place(*inside_->kernel, {allowed, 0.05});
}

std::unique_ptr<Notes> Process::notes() { return detail::open_notes(*inside_->agent); }

// --- what its agent says ---

Models Process::models() const {
  Models models;
  models.used = inside_->agent->status().model_digest;
  const std::vector<std::uint8_t> kept = inside_->agent->kept_models();
  if (!kept.empty() && !slots::SlotRecord::decode(kept, models.record)) std::abort();
  return models;
}

namespace {
std::string text(const journal::ShapeKey& key) {
  return std::to_string(key.kernel ^ key.driver) + "/" + std::to_string(key.shape);
}

std::string text(const journal::Trial& trial) {
  return text(trial.shape_key()) + "/" + std::to_string(trial.key().configuration);
}
}  // namespace

std::string Process::key_text(int s) const {
  return text(inside_->trial_of(world_, 0, s).shape_key());
}

std::string Process::trial_text(int c, int s) const {
  return text(inside_->trial_of(world_, c, s));
}

Snapshot Process::snapshot() const {
  Snapshot result = account();
  const journal::State& state = inside_->state();
  for (int c = 1; c < world_.count(); ++c) {
    const journal::TrialKey key = inside_->key_of(c, 0);
    if (state.dangers().is_quarantined(key)) result.quarantined.insert(c);
    if (state.dangers().is_suspect(key)) result.suspect.insert(c);
  }
  state.for_each_measurement([&](const journal::Measurement& m) {
    result.measured[text(m.trial)] = static_cast<int>(m.status);
  });
  state.for_each_adoption([&](const journal::Adoption& adoption) {
    result.adopted[text(adoption.trial.shape_key())] =
        std::to_string(adoption.trial.key().configuration);
  });
  for (int s = 0; s < world_.shapes(); ++s) {
    for (const World::Package* package : world_.packages) {
      const std::uint64_t kernel = package->read->digest();
      const std::uint64_t whose = inside_->key_of(0, 0).device;
      const auto past = state.shape_statistics(kernel ^ whose, world_.shape(s));
      if (past) result.launches[{kernel, s}] = past->launches;
    }
  }
  return result;
}

Snapshot Process::account() const {
  Snapshot result;
  const AgentStatus status = inside_->engine().status();
  result.charged = status.charged_seconds;
  result.kernel = status.kernel_seconds;
  result.saved = status.saved_seconds;
  return result;
}

bool Process::in_debt() const {
  const Snapshot now = account();
  const double share = world_.options.overhead_limit;
  return now.charged > std::max(0.0, share * now.kernel + now.saved);
}

bool Process::storage_ok() const { return inside_->agent->journal().storage_status().ok(); }
bool Process::device_is_lost() const { return inside_->engine().status().lost_devices > 0; }
bool Process::tuning_goes_on() const { return inside_->engine().status().tuning_enabled; }

bool Process::is_suspect(int c) const {
  return inside_->state().dangers().is_suspect(inside_->key_of(c, 0));
}

bool Process::has_survived(int c) const {
  const auto suspect = inside_->state().dangers().suspect(inside_->key_of(c, 0));
  return suspect && suspect->survived;
}

bool Process::is_quarantined(int c) const {
  return inside_->state().dangers().is_quarantined(inside_->key_of(c, 0));
}

bool Process::is_adopted(int c) const {
  bool found = false;
  inside_->state().for_each_adoption([&](const journal::Adoption& adoption) {
    found = found || adoption.trial.configuration == world_.configuration(c);
  });
  return found;
}

int Process::measured(int c, int s) const {
  const Inside& in = *inside_;
  const auto known =
      in.state().measurement(world_.captures ? in.trial_of(world_, c, s).key() : in.key_of(c, s));
  return known ? static_cast<int>(known->status) : -1;
}

bool Process::is_wrong(int c, int s) const {
  return inside_->state().dangers().is_wrong(inside_->trial_of(world_, c, s));
}

bool Process::has_slot(int s) const { return inside_->slot_of(world_.shape(s)) != nullptr; }

bool Process::class_is_kept(int s) const {
  const ShapeSlot* slot = inside_->slot_of(world_.shape(s));
  return slot != nullptr && slot->class_is_kept();
}

std::uint64_t Process::data_at(int s) const { return inside_->trial_of(world_, 0, s).data; }

int Process::running(int s) const {
  const ShapeSlot* slot = inside_->slot_of(world_.shape(s));
  if (slot == nullptr) return 0;
  const detail::Variant* current = slot->current.load();
  // What nobody has kept for the class runs now and then.
  if (current == &slot->of_class && !slot->class_is_kept()) return 0;
  return world_.index_of(current->configuration);
}

int Process::evaluated_at(int s) const {
  const ShapeTask* task = inside_->task_of(world_.shape(s));
  return task == nullptr ? 0 : static_cast<int>(task->search.evidence().evaluated);
}

int Process::adopted_at(int s) const {
  const ShapeTask* task = inside_->task_of(world_.shape(s));
  if (task == nullptr) return -1;
  const detail::Variant* adopted = task->variants.adopted();
  return adopted != nullptr ? world_.index_of(adopted->configuration) : 0;
}

int Process::recorded_at(int s) const {
  const auto adoption = inside_->state().adoption(inside_->trial_of(world_, 0, s).shape_key());
  return adoption ? world_.index_of(adoption->trial.configuration) : 0;
}

bool Process::is_recorded(int c, int s) const {
  bool found = false;
  inside_->state().for_each_adoption([&](const journal::Adoption& adoption) {
    found = found || (adoption.trial.configuration == world_.configuration(c) &&
                      adoption.trial.shape == world_.shape(s) &&
                      adoption.trial.driver == inside_->device->info().driver_key() &&
                      adoption.trial.kernel == inside_->package->read->digest());
  });
  return found;
}

bool Process::is_demoted(int c, int s) const {
  bool found = false;
  inside_->state().for_each_demotion(
      inside_->trial_of(world_, 0, s).shape_key(), [&](const journal::Demotion& demotion) {
        found = found || demotion.configuration == world_.configuration(c);
      });
  return found;
}

void Process::for_each_passed(const std::function<void(int, int)>& visit) const {
  const std::uint64_t driver = inside_->device->info().driver_key();
  const std::uint64_t kernel = inside_->package->read->digest();
  inside_->state().for_each_measurement([&](const journal::Measurement& m) {
    if (m.status != TrialStatus::correct || m.checked_seeds != 2) return;
    if (m.trial.driver != driver || m.trial.kernel != kernel) return;
    const int c = world_.index_of(m.trial.configuration), s = world_.index_of(m.trial.shape);
    if (c > 0 && s >= 0) visit(c, s);
  });
}

// --- what goes on inside ---

Role Process::role(int c, int s) const {
  const ShapeTask* task = inside_->task_of(world_.shape(s));
  if (task == nullptr) return Role::candidate;
  if (task->work.is(detail::Work::rechecking)) return Role::recheck;
  const auto* trying = task->work.trying();
  const bool other = trying != nullptr && trying->proposal.configuration != world_.configuration(c);
  return other ? Role::incumbent : Role::candidate;
}

Runs Process::runs(int c, int s) const {
  const ShapeSlot* slot = inside_->slot_of(world_.shape(s));
  if (slot == nullptr) return c == 0 ? Runs::fallback : Runs::unslotted;
  const Configuration& configuration = world_.configuration(c);
  for (const auto& racer : slot->racers) {
    const detail::Variant* variant = racer.load();
    if (variant != nullptr && variant->configuration == configuration) return Runs::racer;
  }
  const detail::Variant* current = slot->current.load();
  if (c == 0) return Runs::fallback;
  if (current->configuration != configuration) return Runs::unpublished;
  return current == &slot->of_class ? Runs::by_class : Runs::adopted;
}

int Process::candidate_at(int s) const {
  const ShapeTask* task = inside_->task_of(world_.shape(s));
  const auto* trying = task != nullptr ? task->work.trying() : nullptr;
  return trying != nullptr ? world_.index_of(trying->proposal.configuration) : -1;
}

std::set<int> Process::racing() const {
  std::set<int> all;
  for (const auto& task : inside_->tasks())
    for (std::size_t i = 0; i < task->variants.racers(); ++i)
      all.insert(world_.index_of(task->variants.racer(i).configuration));
  return all;
}

bool Process::worker_rests() const { return inside_->engine().worker_rests(); }

bool Process::classes_fail() const {
  return inside_->engine().kernels().empty() ||
         inside_->engine().classes_fail(*inside_->engine().kernels().front());
}

bool Process::announced_in(const journal::State& state, int c, int s) const {
  for (const auto& open : state.dangers().open_trials()) {
    if (open.trial.configuration == world_.configuration(c) &&
        (s < 0 || open.trial.shape == world_.shape(s)))
      return true;
  }
  return false;
}

bool Process::announced(int c, int s) const { return announced_in(inside_->state(), c, s); }

std::set<int> Process::announced(bool in_helper_only) const {
  std::set<int> all;
  if (inside_->agent == nullptr) return all;
  for (const auto& open : inside_->state().dangers().open_trials())
    if (!in_helper_only || open.place == journal::Where::helper)
      all.insert(world_.index_of(open.trial.configuration));
  return all;
}

bool Process::announced_beside(int s) const {
  for (const auto& open : inside_->state().dangers().open_trials())
    if (open.place == journal::Where::helper && open.trial.shape != world_.shape(s)) return true;
  return false;
}

std::string Process::noted_in(Bytes journal, std::uint64_t digest) const {
  const auto name = inside_->medium.read(journal).name(journal::NameKind::note, digest);
  return name ? name->text : "";
}

bool Process::announced_in(Bytes journal, int c, int s) const {
  return announced_in(inside_->medium.read(journal), c, s);
}

std::string Process::idle_slots() const {
  for (const auto& task : inside_->tasks()) {
    if (task->variants.adopted() != nullptr || task->race != nullptr) continue;
    if (task->work.is(detail::Work::installing)) continue;  // soon adopted
    const auto since = static_cast<double>(task->launches() - task->said_at);
    if (task->said_launches > since) continue;  // they are to come
    return task->said_launches >= 0               ? "-beside-one-that-was-said"
           : task->work.is(detail::Work::resting) ? "-beside-one-at-rest"
                                                  : "-beside-one-unfinished";
  }
  return "";
}

}  // namespace idletune::lives
