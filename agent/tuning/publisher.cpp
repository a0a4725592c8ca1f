#include "agent/tuning/publisher.hpp"

#include <algorithm>
#include <utility>

#include "agent/scheduler/nanoseconds.hpp"
#include "models/core/digest.hpp"
#include "models/core/lists.hpp"

namespace idletune::detail {
namespace {
constexpr journal::Serial kNotYet = UINT64_MAX;
constexpr std::size_t kSeen = 5;  // launches that say what one takes
}  // namespace

void Publisher::adopt(ShapeTask& task, const Install& install, std::unique_ptr<Variant> variant) {
  // What was adopted had passed its checks at this shape.
  facts_.passed(task.facts(), install.configuration, task.slot.shape);
  const ShapeEvidence& evidence = task.search.evidence();
  if (!install.recalled) task.adopted_by = kNotYet;
  publish(task, std::move(variant), evidence.as_now(install.at_first), install.setup);
  task.timed_alike = install.timed_alike;
  task.duel_interval = ShapeTask::kFirstDuel;
  const bool known = !install.recalled && install.timed_alike;
  task.duel_at = known ? task.launches() + task.duel_interval : 0;
  // Recalled once more while it was built, or acquitted meanwhile and compared with nothing.
  const bool again = task.recalled && task.recalled->configuration == install.configuration;
  if (again || !install.recalled) task.recalled.reset();
  if (install.recalled) return;
  task.least_saving += install.least_gain;
  task.compared_at = now();
  journal::Adoption adoption;
  adoption.trial = task.identity;
  adoption.trial.configuration = install.configuration;
  adoption.expected = install.at_first;
  if (install.timed_alike) adoption.default_time = task.default_at_first();
  adoption.checked_seeds = 2;
  journal_.adopted(adoption);
  task.adopted_by = task.kernel.offers_wait_for = journal_.sync_soon();
}

void Publisher::publish(ShapeTask& task, std::unique_ptr<Variant> variant, Nanoseconds time,
                        Nanoseconds setup) {
  accounts_.credit_launches(task, now());  // at the old times
  task.setup_time = setup;
  const Configuration before = task.running();
  const bool untuned = task.variants.adopted() == nullptr;
  if (untuned && task.production.count() >= kSeen) task.untuned_launch = task.production.median();
  task.variants.publish(std::move(variant));
  if (before != task.running()) {
    forget_unproven(task, before);
    if (task.work.is(Work::rechecking)) task.work.clear();
  }
  task.running_time = time;
  task.timed_alike = true;
  task.look_for_comebacks = true;
  task.production.clear();
  task.watch_anew();
  task.credited_unprepared = 0;
  task.setups_charged = 0;
  if (task.race != nullptr) task.race->times.restart();
  allow_setup(task);
  offer_for_classes(task.kernel);
}

// It runs no more, and launches of it have not shown whether it does harm.
void Publisher::forget_unproven(ShapeTask& task, const Configuration& configuration) {
  for (std::size_t i = task.unproven.size(); i-- > 0;) {
    if (task.unproven[i].trial.configuration != configuration) continue;
    journal_.withdrawn(task.unproven[i].trial, Where::launches);
    task.unproven.erase(task.unproven.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Publisher::demote(ShapeTask& task, journal::DemotionReason why, const char* told) {
  tell(options_, 2, "%: back to the default, %", task.kernel.state->name(), told);
  task.kernel.state->classes().lost(task.slot, task.running());
  journal::Demotion demotion;
  demotion.key = task.identity.shape_key();
  demotion.configuration = task.running();
  demotion.why = why;
  if (task.production.count() > 0 && task.default_time.count() > 0) {
    const double ratio = real_ns(task.production.median()) / real_ns(task.default_time);
    demotion.ratio_millionths = static_cast<std::uint32_t>(std::min(ratio, 4000.0) * 1e6);
  }
  demotion.losses = task.lost_again(task.running());
  demotion.launches = task.past_launches + task.launches();
  journal_.demoted(demotion);
  take_back(task);
}

// What ran promises nothing any more.
void Publisher::take_back(ShapeTask& task) {
  const auto known = journal_.state().measurement(task.trial(task.running()).key());
  Nanoseconds drawn{0};
  if (known && known->status == TrialStatus::correct && known->origin == journal::Origin::random) {
    drawn = *journal_.state().time_of(*known, task.default_at_first());
  }
  task.search.took_back(drawn);
  publish(task, nullptr, task.default_time);
  task.least_saving = Nanoseconds{0};
}

// What is published follows the facts: first what launches of new shapes find, then what runs.
void Publisher::republish(KernelTask& kernel) {
  kernel.facts_followed = facts_.version();
  offer_for_classes(kernel);
  for (const std::unique_ptr<ShapeTask>& task : kernel.shapes) {
    task->exhausted = false;
    task->look_for_comebacks = true;
    const Variant* adopted = task->variants.adopted();
    if (adopted != nullptr &&
        !facts_.may(task->facts(), adopted->configuration, task->slot.shape, Where::launches)) {
      withdraw(*task);
    }
    if (task->variants.adopted() == nullptr && !task->recalled) knowledge_.recall_adoption(*task);
  }
}

// A suspicion takes nothing for ever: the adoption stays on record, and counts again once the
// configuration is acquitted.
void Publisher::withdraw(ShapeTask& task) {
  const journal::Trial trial = task.trial(task.running());
  const char* why =
      facts_.why_not(task.facts(), trial.configuration, task.slot.shape, Where::launches);
  if (!journal_.state().dangers().is_suspect(trial)) {
    return demote(task, journal::DemotionReason::failed, why);
  }
  tell(options_, 2, "%: back to the default for now, %", task.kernel.state->name(), why);
  take_back(task);
}

void Publisher::note_for_classes(KernelTask& kernel, std::uint64_t variant, bool won) {
  std::vector<std::uint64_t>& known = won ? kernel.good_for_classes : kernel.slow_for_classes;
  if (contains(known, variant)) return;
  push(known, variant);
  offer_for_classes(kernel);
}

void Publisher::stop_for_class(ShapeTask& task) {
  task.kernel.state->classes().lost(task.slot, task.slot.of_class.configuration);
  task.variants.publish(nullptr);
}

void Publisher::offer_what_is_kept(KernelTask& kernel) {
  if (kernel.offers_wait_for == 0) return;
  if (journal_.storage_status().ok() && !journal_.durable(kernel.offers_wait_for)) return;
  kernel.offers_wait_for = 0;
  offer_for_classes(kernel);
}

void Publisher::offer_for_classes(KernelTask& kernel) {
  // Nothing announces them: without a trace a death in one would never be known, nor without a record
  // of what the trace names.
  const bool kept = !options_.state.empty() && journal_.storage_status().ok();
  if (kept && surroundings_.trace == nullptr) return kernel.state->classes().offer({});
  std::vector<ClassVariant> variants(ClassVariants::kMax);
  std::size_t count = 0;
  for (const std::unique_ptr<ShapeTask>& task : kernel.shapes) {
    const Variant* adopted = task->variants.adopted();
    // What is prepared is its shape's own.
    if (adopted == nullptr || !adopted->plan.setup().empty()) continue;
    if (kept && !journal_.durable(task->adopted_by)) continue;
    ClassVariant& variant = variants[count];
    variant.classes = facts_.classes(kernel.facts(), adopted->configuration);
    if (variant.classes.empty()) continue;
    variant.programs = adopted->programs;
    variant.configuration = adopted->configuration;
    variant.adopted_at = task->slot.shape;
    const std::uint64_t digest = digest_of(adopted->configuration);
    if (contains(kernel.good_for_classes, digest)) variant.elsewhere = ClassVariant::better;
    if (contains(kernel.slow_for_classes, digest)) variant.elsewhere = ClassVariant::slower;
    if (adopted->scratch != nullptr) kernel.state->classes().expect_scratch(*adopted->scratch);
    if (++count == variants.size()) break;
  }
  while (variants.size() > count) variants.pop_back();
  kernel.state->classes().offer(std::move(variants));
}

// Until then the default runs.
void Publisher::allow_setup(ShapeTask& task) {
  VariantScratch* scratch = task.setup();
  if (scratch == nullptr || scratch->setups_allowed.load(std::memory_order_relaxed) > 0) return;
  SetupSituation situation;
  situation.launches = core_.expected_launches(task);
  situation.said = task.said_launches >= 0;
  situation.allowance = accounts_.ledger().allowance();
  situation.again = scratch->setups_made.load(std::memory_order_relaxed) > 0;
  situation.missed = scratch->unprepared_in_a_row.load(std::memory_order_relaxed);
  // What launches of something else have lost is earned back the sooner.
  constexpr std::uint32_t kMissedForLong = 1000;
  if (situation.missed > kMissedForLong) {
    situation.allowance = std::max(situation.allowance, accounts_.ledger().allowance_of_share());
  }
  const SetupPrice price = task.setup_price();
  if (!setup_pays(price, situation)) return;
  scratch->setups_allowed.store(1, std::memory_order_relaxed);
}

}  // namespace idletune::detail
