// What the journal and the model know of a kernel's shapes.
#include <utility>

#include <idletune/text.hpp>

#include "agent/tuning/tuning_engine.hpp"
#include "models/core/digest.hpp"
#include "models/core/order.hpp"
#include "models/core/scalar.hpp"

namespace idletune::detail {
namespace {

constexpr std::size_t kMaxPublishedAtStart = 16;  // adoptions built at start-up, per kernel
// After that nothing more is launched at a kernel's start; how long builds take does not count.
constexpr Nanoseconds kLaunchesAtStart = std::chrono::milliseconds(250);

// Whether nothing that a launch reads, addresses for instance, is an integer that the application
// passes: then data of any kind lead no kernel astray that the application's do not.
bool takes_floats_only(const KernelPackage& package) {
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentSpec& spec = package.argument(i);
    const bool given = spec.kind == ArgumentKind::buffer || spec.kind == ArgumentKind::scalar;
    if (given && is_integer(spec.type)) return false;
  }
  return true;
}

}  // namespace

KernelTask& TuningEngine::add_kernel(std::unique_ptr<KernelState> state,
                                     const std::shared_ptr<const Model>& model) {
  auto owned = std::make_unique<KernelTask>();
  KernelTask& kernel = *owned;
  kernel.state = std::move(state);
  kernel.device = &device_task(kernel.state->device());
  kernel.runner_status = surroundings_.trials;
  kernels_.push_back(std::move(owned));
  const KernelPackage& package = kernel.state->package();
  take_model(kernel, model);
  if (options_.learner != nullptr && options_.mode == Mode::tune) {
    kernel.retrainer.reset(
        options_.learner->retrainer(journal_.state(), kernel, *surroundings_.clock));
  }
  std::size_t launched = 0;
  if (options_.mode != Mode::off) {
    record_names(package, kernel.state->device().info());
    Nanoseconds left = kLaunchesAtStart;
    launched = publish_adopted(kernel, left);
    launched += launch_known_defaults(kernel, left);
  }
  if (launched == 0 && takes_floats_only(package)) launch_default_small(kernel);
  return kernel;
}

// Those of the last sessions, and what the journal says of them. How many were launched.
std::size_t TuningEngine::publish_adopted(KernelTask& kernel, Nanoseconds& left) {
  const DeviceInfo& device = kernel.state->device().info();
  std::vector<journal::Adoption> adoptions;
  journal_.state().for_each_adoption([&](const journal::Adoption& adoption) {
    if (adoption.trial.kernel == kernel.state->package().digest() &&
        adoption.trial.device == device.device_key() &&
        adoption.trial.driver ==
            (device.driver_key() ^ captured_digest(*kernel.state, adoption.trial.shape))) {
      adoptions.push_back(adoption);
    }
  });
  if (adoptions.size() > kMaxPublishedAtStart) adoptions.resize(kMaxPublishedAtStart);
  std::size_t launched = 0;
  for (const journal::Adoption& adoption : adoptions) {
    Result<ShapeSlot*> slot = kernel.state->slot_for(adoption.trial.shape);
    ShapeTask* task = slot.ok() ? shape_task(kernel, **slot) : nullptr;
    if (task == nullptr) continue;
    publish_recalled(*task);
    if (left.count() <= 0) continue;
    const Nanoseconds before = now();
    launch_ahead(*task);
    left -= now() - before;
    ++launched;
  }
  return launched;
}

// Where the default was measured and nothing better was found.
std::size_t TuningEngine::launch_known_defaults(KernelTask& kernel, Nanoseconds left) {
  const DeviceInfo& device = kernel.state->device().info();
  const journal::State& state = journal_.state();
  const Configuration& standard = kernel.state->package().default_configuration();
  journal::TrialKey key;
  key.kernel = kernel.state->package().digest();
  key.device = device.device_key();
  key.driver = device.driver_key();
  key.configuration = digest_of(standard);
  std::size_t launched = 0;
  state.for_each_shape_of(key, [&](const journal::Measurement& measurement) {
    const bool runs = measurement.status == TrialStatus::correct &&
                      !state.adoption(measurement.trial.shape_key());
    if (!runs || left.count() <= 0) return;
    const Nanoseconds before = now();
    launch_once(kernel, kernel.state->default_programs(), measurement.trial.shape, standard,
                options_.scratch_limit_bytes);
    left -= now() - before;
    ++launched;
  });
  return launched;
}

// The rest of the journal knows them by digests only.
void TuningEngine::record_names(const KernelPackage& package, const DeviceInfo& device) {
  using journal::NameKind;
  journal_.named({NameKind::device, device.device_key(),
                  joined({device.backend, "\n", device.platform, "\n", device.name, "\n",
                          device.vendor, "\n", device.compute_units})});
  journal_.named({NameKind::driver, device.driver_key(), device.driver});
  std::string text = joined({package.name(), "\n", package.space().valid_count(), "\n"});
  for (std::size_t i = 0; i < package.dimension_count(); ++i) {
    if (i > 0) text += ' ';
    text += package.dimension_name(i);
  }
  for (std::size_t i = 0; i < package.space().parameter_count(); ++i) {
    text += i > 0 ? ' ' : '\n';
    text += package.space().parameter_name(i);
  }
  for (std::size_t i = 0; i < package.feature_count(); ++i) {
    append(text, {i > 0 ? ";" : "\n", package.feature_name(i)});
    if (i >= package.given_feature_count()) append(text, {"=", package.feature_text(i)});
  }
  journal_.named({NameKind::kernel, package.digest(), std::move(text)});
}

KernelTask* TuningEngine::task_of(const KernelState& state) {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (kernel->state.get() == &state) return kernel.get();
  }
  return nullptr;
}

SearchSubject TuningEngine::subject_of(const KernelState& kernel, const ShapeSlot& slot) const {
  SearchSubject subject;
  subject.space = &kernel.package().space();
  subject.untuned = kernel.package().default_configuration();
  subject.shape = kernel.package().with_features(slot.shape);
  subject.device = kernel.device().info().name;
  // Boards that share a permutation and begin at different places draw different configurations.
  subject.seed = (options_.seed == 0 ? 1 : options_.seed) ^ digest_of(slot.shape);
  subject.random_start = options_.seed == 0 ? surroundings_.board : 0;
  subject.learner = options_.learner;
  subject.target_ratio = options_.well_performing_ratio;
  subject.wanted_probability = options_.wanted_probability;
  subject.adoption_margin = options_.adoption_margin;
  return subject;
}

ShapeTask* TuningEngine::shape_task(KernelTask& kernel, ShapeSlot& slot) {
  for (const std::unique_ptr<ShapeTask>& task : kernel.shapes) {
    if (&task->slot == &slot) return task.get();
  }
  if (kernel.state->table().find(slot.shape, slot.hash) != &slot) return nullptr;
  kernel.shapes.push_back(
      std::make_unique<ShapeTask>(kernel, slot, kernel.state->lanes(),
                                  ShapeSearch(subject_of(*kernel.state, slot), kernel.model)));
  ShapeTask& task = *kernel.shapes.back();
  load_knowledge(task);
  return &task;
}

void TuningEngine::notice_new_shapes() {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    LaunchTable& table = kernel->state->table();
    const std::size_t published = table.published();
    const bool more = kernel->slots_seen != published;
    kernel->slots_seen = published;
    for (std::size_t i = 0; more && i < table.capacity(); ++i) {
      ShapeSlot* slot = table.at(i);
      if (slot == nullptr || slot->noticed) continue;
      slot->noticed = true;
      // Two threads launched the shape first: one slot is enough.
      if (shape_task(*kernel, *slot) == nullptr) leave(*kernel, *slot);
    }
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      const double said = task->slot.said_launches.exchange(-1, std::memory_order_relaxed);
      if (said < 0) continue;
      task->said_launches = said;
      task->said_at = 0;
    }
  }
}

// In the order in which they were made, as far as the journal tells: by the clock. It matters a
// little to what is believed.
std::vector<KnownMeasurement> TuningEngine::measurements_of(const ShapeTask& task) const {
  std::vector<journal::Measurement> all;
  journal_.state().for_each_measurement(
      task.identity.shape_key(),
      [&](const journal::Measurement& measurement) { all.push_back(measurement); });
  const std::vector<std::uint32_t> order = order_of(
      all.size(), [&](auto a, auto b) { return all[a].unix_seconds < all[b].unix_seconds; });
  std::vector<KnownMeasurement> known;
  known.reserve(order.size());
  for (const std::uint32_t i : order) {
    known.push_back({all[i].trial.configuration, {all[i].status, all[i].median, all[i].compile}});
  }
  return known;
}

void TuningEngine::load_knowledge(ShapeTask& task) {
  const KernelState& kernel = *task.kernel.state;
  const DeviceInfo& device = kernel.device().info();
  task.identity.kernel = kernel.package().digest();
  task.identity.device = device.device_key();
  task.identity.shape = task.slot.shape;
  task.captured = captured_digest(kernel, task.slot.shape);
  task.first_seen = now();
  task.search.estimates().adopt_compile(task.kernel.compile_estimates);
  if (!kernel.profiling_available()) task.watch.profiling_unavailable();

  if (std::optional<journal::ShapeStatistics> past =
          journal_.state().shape_statistics(task.identity.kernel, task.slot.shape)) {
    task.past_launches = past->launches;
    task.past_sessions = past->sessions;
    task.past_active_seconds = past->active_seconds;
  }
  recall(task);
}

// What was measured on other data is what another driver was.
void TuningEngine::recall(ShapeTask& task) {
  const KernelState& kernel = *task.kernel.state;
  const DeviceInfo& device = kernel.device().info();
  task.identity.driver = device.driver_key() ^ task.captured;
  if (task.captured != 0) {
    journal_.named({journal::NameKind::driver, task.identity.driver,
                    joined({device.driver, ", captured arguments"})});
  }
  const journal::State& state = journal_.state();
  if (std::optional<journal::Adoption> stale = state.stale_adoption(task.identity.shape_key())) {
    if (kernel.package().space().contains(stale->trial.configuration)) {
      task.search.add_hint(stale->trial.configuration);
    }
  }
  for (const KnownMeasurement& known : measurements_of(task)) {
    task.search.recall(known);
    if (known.observation.status == TrialStatus::correctness) {
      note_check(task.kernel, known.configuration, task.slot.shape, false);
    }
  }
  recall_default(task);
  recall_adoption(task);
}

// It was measured here, under this driver: once is enough.
void TuningEngine::recall_default(ShapeTask& task) {
  if (options_.mode == Mode::off) return;
  journal::Trial trial = task.identity;
  trial.configuration = task.slot.fallback.configuration;
  const std::optional<journal::Measurement> known = journal_.state().measurement(trial.key());
  if (!known || known->status != TrialStatus::correct) return;
  task.default_time = task.running_time = known->median;
}

// What runs here since an earlier session; it is built later.
void TuningEngine::recall_adoption(ShapeTask& task) {
  const journal::State& state = journal_.state();
  const std::optional<journal::Adoption> adoption = state.adoption(task.identity.shape_key());
  if (options_.mode == Mode::off || !adoption) return;
  const journal::TrialKey key = adoption->trial.key();
  if (state.is_quarantined(key) || state.is_suspect(key)) return;
  const Configuration& configuration = adoption->trial.configuration;
  const Selection selection =
      task.search.is_first_pick(configuration) ? Selection::first_pick : Selection::tuned;
  if (adoption->default_time.count() > 0) task.default_time = adoption->default_time;
  task.recalled = Install{configuration, selection, adoption->expected, true};
  if (const std::optional<journal::Measurement> known = state.measurement(key)) {
    task.recalled->setup = known->setup;
  }
}

// --- another model ---

void TuningEngine::use_model(const std::shared_ptr<const Model>& model) {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) take_model(*kernel, model);
}

// One that was learned of other problems says nothing of these.
void TuningEngine::take_model(KernelTask& kernel, const std::shared_ptr<const Model>& model) {
  const KernelPackage& package = kernel.state->package();
  const std::string inputs = package.input_names();
  kernel.model = KernelModel::of(model, package.name(), package.space(), inputs);
  kernel.model_refused.clear();
  if (kernel.model != nullptr || model == nullptr) return;
  const KernelKnowledge* other = model->kernel(package.name(), package.space());
  if (other == nullptr) return;
  kernel.model_refused = joined({"the model knows problems of ", other->input_names(),
                                 ", the kernel has problems of ", inputs});
  log(1, {package.name(), ": ", kernel.model_refused});
}

// One stage; false if none was due.
bool TuningEngine::retrain(Nanoseconds left) {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (kernel->retrainer != nullptr && kernel->retrainer->step(left)) return true;
  }
  return false;
}

// True if there was one. One per call of run(), so that none of them takes long. Evidence from here
// does not depend on the model and stays; the searcher is told it again.
bool TuningEngine::renew_one(ShapeTask* preferred) {
  ShapeTask* next = nullptr;
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      const bool current = task->search.model() == kernel->model && !task->lent;
      if (current || !is<Resting>(task->work) || task->race != nullptr) continue;
      if (next == nullptr || task.get() == preferred) next = task.get();
    }
  }
  if (next == nullptr) return false;
  if (next->lent) {
    begin_anew(*next);
    return true;
  }
  const std::vector<KnownMeasurement> known = measurements_of(*next);
  next->search.renew(next->kernel.model, known);
  next->exhausted = false;
  return true;
}

}  // namespace idletune::detail
