#include "agent/tuning/knowledge.hpp"

#include <chrono>
#include <utility>

#include <idletune/text.hpp>

#include "agent/scheduler/nanoseconds.hpp"
#include "agent/tuning/planned_groups.hpp"
#include "models/core/digest.hpp"
#include "models/core/lists.hpp"
#include "models/core/order.hpp"
#include "models/core/shared.hpp"
#include "models/package/captured_arguments.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {
namespace {

bool has_captured(const KernelPackage& package) {
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    if (package.argument(i).captured) return true;
  }
  return false;
}

constexpr journal::Origin origin_of(ProposalOrigin origin) {
  return static_cast<journal::Origin>(static_cast<std::uint8_t>(origin) + 1);
}
static_assert(origin_of(ProposalOrigin::first_pick) == journal::Origin::first_pick);
static_assert(origin_of(ProposalOrigin::portfolio) == journal::Origin::portfolio);
static_assert(origin_of(ProposalOrigin::random) == journal::Origin::random);
static_assert(origin_of(ProposalOrigin::learned) == journal::Origin::learned);
static_assert(origin_of(ProposalOrigin::application) == journal::Origin::application);

}  // namespace

// Of what an earlier call or process was lent; 0: nothing. The rest of the file is looked at where
// it is used.
std::uint64_t Knowledge::captured_digest(const KernelState& kernel, const Shape& shape) const {
  if (options_.state.empty() || !has_captured(kernel.package())) return 0;
  std::uint8_t beginning[CapturedArguments::kBeginningBytes];
  const bool read = read_state_file(surroundings_, core_.capture_path(kernel, shape), beginning);
  return read ? CapturedArguments::digest_in(beginning) : 0;
}

void Knowledge::capture_taken(ShapeTask& task, std::uint64_t digest, Nanoseconds took) {
  accounts_.launch_was_slower(task, took);
  if (task.captured == digest) return;
  task.captured = digest;
  task.lent = true;
}

// True: what lies there now is not what the shape is tuned on, and takes its place.
bool Knowledge::notice_capture(ShapeTask& task) {
  if (task.captured == 0) return false;
  const std::uint64_t there = captured_digest(*task.kernel.state, task.slot.shape);
  if (there == task.captured) return false;
  task.captured = there;
  task.lent = true;
  return true;
}

// It cannot be used: damaged, or of another package. The search goes on with made-up data.
void Knowledge::drop_capture(ShapeTask& task) {
  if (notice_capture(task) || task.captured == 0) return;
  if (journal_.storage_status().ok()) {  // else it is another process's
    (void)write_state_file(surroundings_, core_.capture_path(*task.kernel.state, task.slot.shape),
                           Bytes(), FileSync::no);
  }
  task.captured = 0;
  task.lent = true;
}

// Nothing that was found on other data is taken for granted; what was adopted there goes on running
// and is tried first.
void Knowledge::begin_anew(ShapeTask& task) {
  task.lent = false;
  task.search.begin_anew(task.kernel.model);
  task.search.estimates().adopt_compile(task.kernel.compile_estimates);
  task.default_time = task.reference_run = Nanoseconds{0};
  task.baseline_failed = task.exhausted = false;
  task.look_for_comebacks = true;
  task.kernel.contents.forget();
  recall(task);
}

// The rest of the journal knows them by digests only.
void Knowledge::record_names(const KernelPackage& package, const DeviceInfo& device) {
  using journal::NameKind;
  journal_.named({NameKind::device, device.device_key(),
                  joined("%\n%\n%\n%\n%", device.backend, device.platform, device.name,
                         device.vendor, device.compute_units)});
  journal_.named({NameKind::driver, device.driver_key(), device.driver});
  std::string text = joined("%\n%\n", package.name(), package.space().valid_count());
  for (std::size_t i = 0; i < package.dimension_count(); ++i) {
    if (i > 0) text += ' ';
    text += package.inputs().dimension_name(i);
  }
  for (std::size_t i = 0; i < package.space().parameter_count(); ++i) {
    text += i > 0 ? ' ' : '\n';
    text += package.space().parameter_name(i);
  }
  for (std::size_t i = 0; i < package.feature_count(); ++i) {
    append(text, "%%", i > 0 ? ";" : "\n", package.inputs().feature_name(i));
    if (i >= package.inputs().given_feature_count())
      append(text, "=%", package.inputs().feature_text(i));
  }
  journal_.named({NameKind::kernel, package.digest(), std::move(text)});
}

SearchSubject Knowledge::subject_of(const KernelState& kernel, const ShapeSlot& slot) const {
  SearchSubject subject;
  subject.space = &kernel.package().space();
  subject.untuned = kernel.package().default_configuration();
  subject.shape = kernel.package().inputs().with_features(slot.shape);
  subject.device = kernel.device().info().name;
  // Boards that share a permutation and begin at different places draw different configurations.
  subject.seed = (options_.seed == 0 ? 1 : options_.seed) ^ digest_of(slot.shape);
  subject.random_start = options_.seed == 0 ? surroundings_.board : 0;
  // A learner would propose what nothing compiles.
  if (kernel.device().info().has_compiler) subject.learner = options_.learner;
  subject.target_ratio = options_.well_performing_ratio;
  subject.wanted_probability = options_.wanted_probability;
  subject.adoption_margin = options_.adoption_margin;
  if (!kernel.device().info().is_cpu) {
    subject.work_groups = new_shared<const PlannedGroups>(kernel.package(), subject.shape);
  }
  return subject;
}

// In the order in which they were made, as far as the journal tells: by the clock. It matters a
// little to what is believed.
std::vector<KnownMeasurement> Knowledge::measurements_of(const ShapeTask& task) const {
  std::vector<journal::Measurement> all;
  journal_.state().for_each_measurement(
      task.identity.shape_key(),
      [&](const journal::Measurement& measurement) { all.push_back(measurement); });
  const std::vector<std::uint32_t> order = order_of(
      all.size(), [&](auto a, auto b) { return all[a].unix_seconds < all[b].unix_seconds; });
  std::vector<KnownMeasurement> known;
  const Nanoseconds untuned = task.default_at_first();
  for (const std::uint32_t i : order) {
    const std::optional<Nanoseconds> time = journal_.state().time_of(all[i], untuned);
    if (!time) continue;
    known.push_back({all[i].trial.configuration, {all[i].status, *time, all[i].compile}, {}});
    if (all[i].origin != journal::Origin::unknown) {
      known.back().drawn = all[i].origin == journal::Origin::random;
    }
    known.back().taken_back = journal_.state().was_demoted(all[i].trial.key());
  }
  return known;
}

void Knowledge::look_for_comebacks(ShapeTask& task) const {
  constexpr std::size_t kMost = 8;
  std::vector<Comeback>& all = task.comebacks;
  std::size_t waiting = 0;
  for (std::size_t i = all.size(); i-- > 0;) {
    waiting += all[i].tries > 0 && all[i].time.count() > 0;
    all[i].time = Nanoseconds{0};
    if (all[i].tries == 0) all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
  // Where everything was tried, what lost by little gets another heat, later, and few do.
  const std::size_t tried = all.size();
  const bool near = task.exhausted && waiting < kMost && !task.kernel.called;
  const double limit = core_.winning_ns(task);
  const double worst = task.exhausted ? real_ns(task.running_time) * Comeback::kNear : limit;
  const Nanoseconds untuned = task.default_at_first();
  journal_.state().for_each_measurement(
      task.identity.shape_key(), [&](const journal::Measurement& measurement) {
        const Configuration& configuration = measurement.trial.configuration;
        if (measurement.status != TrialStatus::correct) return;
        const Nanoseconds time =
            task.search.evidence().as_now(*journal_.state().time_of(measurement, untuned));
        if (time.count() <= 0) return;
        if (real_ns(time) > worst || configuration == task.slot.fallback.configuration) return;
        for (Comeback& each : all) {
          if (each.configuration != configuration) continue;
          each.time = time;
          return;
        }
        if (real_ns(time) > limit && (!near || configuration == task.running())) return;
        if (!facts_.may(task.facts(), configuration, task.slot.shape, task.kernel.trial_place())) {
          return;
        }
        Comeback* slowest = nullptr;
        std::size_t untried = 0;
        for (Comeback& each : all) {
          if (each.tries > 0) continue;
          ++untried;
          if (slowest == nullptr || each.time > slowest->time) slowest = &each;
        }
        if (untried < kMost) return push(all, {configuration, time});
        if (time < slowest->time) *slowest = {configuration, time};
      });
  for (std::size_t i = tried; i < all.size(); ++i) {
    if (real_ns(all[i].time) > limit)
      all[i].from_launches = task.launches() + Comeback::waits_after(all[i].tries = 1);
  }
}

void Knowledge::load(ShapeTask& task) {
  const KernelState& kernel = *task.kernel.state;
  const DeviceInfo& device = kernel.device().info();
  task.identity.kernel = kernel.package().digest();
  task.identity.device = device.device_key();
  task.identity.shape = task.slot.shape;
  task.captured = captured_digest(kernel, task.slot.shape);
  task.first_seen = now();
  task.search.estimates().adopt_compile(task.kernel.compile_estimates);
  if (!kernel.profiling_available()) task.watch.profiling_unavailable();

  for (const std::uint64_t whose : {task.identity.device, std::uint64_t{0}}) {
    const auto past =
        journal_.state().shape_statistics(task.identity.kernel ^ whose, task.slot.shape);
    if (past && task.past_launches == 0) task.past_launches = past->launches;
  }
  recall(task);
  journal_.state().for_each_demotion(
      task.identity.shape_key(), [&](const journal::Demotion& demotion) {
        // What launches said outranks trials; a driver may refuse no more.
        if (demotion.why != journal::DemotionReason::slower_in_launches) return;
        Comeback lost{demotion.configuration};
        lost.tries = std::max(demotion.losses, 1u);
        const std::uint64_t until = demotion.launches + Comeback::waits_after(lost.tries);
        lost.from_launches = until - std::min(until, task.past_launches);
        push(task.comebacks, lost);
      });
}

// What was measured on other data is what another driver was.
void Knowledge::recall(ShapeTask& task) {
  const KernelState& kernel = *task.kernel.state;
  const DeviceInfo& device = kernel.device().info();
  task.identity.driver = device.driver_key();
  task.identity.data = task.captured;
  if (task.captured != 0) {
    journal_.named({journal::NameKind::driver, task.identity.shape_key().driver,
                    joined("%, captured arguments", device.driver)});
  }
  const journal::State& state = journal_.state();
  if (std::optional<journal::Adoption> stale = state.stale_adoption(task.identity.shape_key())) {
    if (kernel.package().space().contains(stale->trial.configuration)) {
      task.search.add_hint(stale->trial.configuration);
    }
  }
  // What runs was adopted on other data: the default is measured anew, and that beside it.
  if (options_.mode != Mode::tune || task.variants.adopted() == nullptr) {
    recall_default(task);
    recall_adoption(task);
  }
  for (const KnownMeasurement& known : measurements_of(task)) task.search.recall(known);
}

// It was measured here, under this driver: once is enough.
void Knowledge::recall_default(ShapeTask& task) {
  if (options_.mode == Mode::off) return;
  journal::Trial trial = task.identity;
  trial.configuration = task.slot.fallback.configuration;
  const std::optional<journal::Measurement> known = journal_.state().measurement(trial.key());
  if (!known || known->status != TrialStatus::correct) return;
  task.default_time = task.running_time = known->median;
}

// What runs here since an earlier session; it is built later.
void Knowledge::recall_adoption(ShapeTask& task) {
  const journal::State& state = journal_.state();
  const std::optional<journal::Adoption> adoption = state.adoption(task.identity.shape_key());
  if (options_.mode == Mode::off || !adoption) return;
  const journal::TrialKey key = adoption->trial.key();
  if (!facts_.may(task.facts(), adoption->trial.configuration, task.slot.shape, Where::launches)) {
    return;
  }
  const Configuration& configuration = adoption->trial.configuration;
  // That a suspect of calls is tried again does not make it adopted.
  if (task.kernel.called && !facts_.may_race(task.facts(), configuration)) return;
  const Selection selection =
      task.search.is_first_pick(configuration) ? Selection::first_pick : Selection::tuned;
  const ShapeEvidence& evidence = task.search.evidence();
  if (adoption->default_time.count() > 0) {
    task.default_time = evidence.as_now(adoption->default_time);
  }
  task.recalled = Install{configuration, selection, adoption->expected, true};
  task.recalled->timed_alike = adoption->default_time.count() > 0;
  if (const std::optional<journal::Measurement> known = state.measurement(key)) {
    task.recalled->setup = known->setup;
  }
}

void Knowledge::use_model(const std::shared_ptr<const Model>& model) {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) take_model(*kernel, model);
}

// One that was learned of other problems says nothing of these.
void Knowledge::take_model(KernelTask& kernel, const std::shared_ptr<const Model>& model) {
  const KernelPackage& package = kernel.state->package();
  const std::string inputs = package.inputs().names();
  kernel.model = KernelModel::of(model, package.name(), package.space(), inputs);
  kernel.model_refused.clear();
  if (kernel.model != nullptr || model == nullptr) return;
  const KernelKnowledge* other = model->kernel(package.name(), package.space());
  if (other == nullptr) return;
  kernel.model_refused = joined("the model knows problems of %, the kernel has problems of %",
                                other->input_names(), inputs);
  tell(options_, 1, "%: %", package.name(), kernel.model_refused);
}

// One stage; false if none was due.
bool Knowledge::retrain(Nanoseconds left) {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (kernel->retrainer != nullptr && kernel->retrainer->step(left, kernel->model)) {
      return true;
    }
  }
  return false;
}

// True if there was one. Evidence from here does not depend on the model and stays; the searcher is
// told it again.
bool Knowledge::renew_one(ShapeTask* preferred) {
  ShapeTask* next = nullptr;
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      const bool current = task->search.model() == kernel->model && !task->lent;
      if (current || !task->work.is(Work::resting) || task->race != nullptr) continue;
      if (next == nullptr || task.get() == preferred) next = task.get();
    }
  }
  if (next == nullptr) return false;
  if (next->lent) {
    begin_anew(*next);
    return true;
  }
  renew(*next);
  next->exhausted = false;
  return true;
}

void Knowledge::renew(ShapeTask& task) {
  task.search.renew(task.kernel.model, measurements_of(task));
}

bool Knowledge::record(const ShapeTask& task, const StepResult& result) {
  // The quirk table may say something else at the next start.
  if (result.status == TrialStatus::constraints &&
      facts_.quirky(task.facts(), result.proposal.configuration)) {
    return false;
  }
  journal::Measurement measurement;
  measurement.trial = task.identity;
  measurement.trial.configuration = result.proposal.configuration;
  const auto known = journal_.state().measurement(measurement.trial.key());
  const bool first = !known;
  if (result.cut) return first;  // more time may be there another day
  measurement.status = result.status;
  if (result.status == TrialStatus::correct) {
    measurement.median = measurement.minimum = task.search.evidence().as_at_first(result.time);
    measurement.samples = 1;
    if (result.timed_alike) measurement.default_time = task.default_at_first();
  }
  measurement.setup = result.setup;
  measurement.compile = result.compile;
  measurement.checked_seeds = result.checked_seeds;
  measurement.origin = known ? known->origin : origin_of(result.proposal.origin);
  measurement.unix_seconds = core_.surroundings_.clock->unix_seconds();
  journal_.measured(measurement);
  return first;
}

}  // namespace idletune::detail
