#include "agent/tuning/production.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/scheduler/nanoseconds.hpp"

namespace idletune::detail {
namespace {

constexpr Nanoseconds kProven = std::chrono::seconds(10);       // in which a launch that kills does
constexpr Nanoseconds kCompareAgain = std::chrono::minutes(5);  // a comparison takes some 20 runs

// The sum over the launch's steps. `busy` while one has not ended; those that have are noted.
Result<Nanoseconds> time_of(WatchTicket& ticket, Device& device) {
  Status failed;
  for (void*& profile : ticket.profiles) {
    if (profile == nullptr) continue;
    const Result<Nanoseconds> time = device.elapsed(profile);
    if (time.code() == StatusCode::busy) return time.status();
    profile = nullptr;
    ticket.time += time.ok() ? *time : Nanoseconds{0};
    if (!time.ok()) failed = time.status();
  }
  if (!failed.ok()) return failed;
  return ticket.time;
}

// Of two that took turns.
class TurnTimes {
 public:
  TurnTimes(const RecentTimes& one, const RecentTimes& other)
      : one_(real_ns(one.lower_quartile())),
        other_(real_ns(other.lower_quartile())),
        least_(std::min(one.count(), other.count())) {}
  bool known() const { return least_ > 0; }
  double ratio() const { return one_ / other_; }
  // Of one launch, in nanoseconds.
  double loss() const { return one_ - other_; }
  Nanoseconds loss_of(std::uint64_t launches) const {
    return from_ns(loss() * static_cast<double>(launches));
  }
  // Whether they tell which of them stays.
  bool tell() const { return loss() > 3 * other_ || least_ >= InPlaceTrials::kSamples; }

 private:
  double one_;
  double other_;
  std::size_t least_;
};

// `each`: of the ticket of a launch that has ended, and its time; 0: it told none.
template <typename Each>
void take_times(WatchTickets& tickets, Device& device, const Each& each) {
  tickets.take([&](WatchTicket& ticket) {
    const Result<Nanoseconds> time = time_of(ticket, device);
    if (time.code() == StatusCode::busy) return false;
    each(ticket, time.ok() ? *time : Nanoseconds{0});
    return true;
  });
}

// Launches of what takes turns, until the next look. What they cost cannot be told while launches
// come back without times.
void grant(ShapeTask& task, bool bearable) {
  const bool told = task.kernel.state->last_sample_was_timed();
  task.slot.grant(bearable && told ? ShapeSlot::kGrant : 0);
}

}  // namespace

void Production::drain_tickets(ShapeTask& task) {
  Device& device = task.kernel.state->device();
  take_times(task.slot.tickets, device, [&](const WatchTicket& ticket, Nanoseconds time) {
    if (time.count() > 0) take_sample(task, ticket.variant, time);
  });
  if (task.kernel.called && task.default_time.count() == 0) time_default(task);
  if (task.race != nullptr) judge_race(task);
  judge_class(task);
  // Without times a while says the same.
  for (std::size_t i = task.unproven.size(); i-- > 0;) {
    if (ran_for_long(task, task.unproven[i])) prove(task, i);
  }
}

// By the application's calls, where nobody else times it.
void Production::time_default(ShapeTask& task) {
  constexpr std::size_t kEnough = 5;
  if (task.variants.adopted() != nullptr || task.production.count() < kEnough) return;
  StepResult result;
  result.proposal = {task.slot.fallback.configuration, ProposalOrigin::application};
  result.verdict = TrialVerdict::adopt;
  result.time = task.production.median();
  steps_.baseline_ended(task, result);
}

// Nobody is to blame for what the default does as well.
void Production::call_failed(ShapeTask& task, const Configuration& configuration,
                             const Measurement& measurement) {
  if (configuration == task.slot.fallback.configuration) return;
  const TrialStatus status = measurement.status;
  accounts_.launch_was_slower(task, measurement.run_time);  // to be made once more
  const journal::Trial trial = task.trial(configuration);
  if (is_death(status)) {
    journal::Open open;
    open.trial = trial;
    open.place = Where::here;  // nobody else can have been the cause
    return facts_.died(open, journal::Ending::hung, "so the application says");
  }
  if (status == TrialStatus::correctness) return facts_.wrong(task.facts(), trial);
  for (std::size_t i = 0; i < task.variants.racers(); ++i) {
    const Variant& racer = task.variants.racer(i);
    if (racer.configuration == configuration) racer.refused.store(true, std::memory_order_relaxed);
  }
  const Variant* adopted = task.variants.adopted();
  if (adopted != nullptr && adopted->configuration == configuration) {
    adopted->refused.store(true, std::memory_order_relaxed);
  }
  if (task.variants.racers() > 0) judge_race(task);
  watch_production(task);
}

// Launches of it began long ago.
bool Production::ran_for_long(const ShapeTask& task, const Unproven& each) const {
  if (surroundings_.trace == nullptr) {
    return task.launches() > each.launches && now() - each.since > kProven;
  }
  const Configuration& configuration = each.trial.configuration;
  if (task.running() == configuration) return task.variants.running().proof.proven();
  for (std::size_t i = 0; i < task.variants.racers(); ++i) {
    const Variant& racer = task.variants.racer(i);
    if (racer.configuration == configuration) return racer.proof.proven();
  }
  return false;
}

// A launch of it has ended well.
void Production::prove(ShapeTask& task, std::size_t i) {
  facts_.survived(task.unproven[i].trial, Where::launches);
  task.unproven.erase(task.unproven.begin() + static_cast<std::ptrdiff_t>(i));
}

// Of candidates that may not run any more.
void Production::withdraw_racers(ShapeTask& task) {
  for (std::size_t i = task.variants.racers(); i-- > 0;) {
    const Configuration& racer = task.variants.racer(i).configuration;
    const bool may = facts_.may(task.facts(), racer, task.slot.shape, Where::launches);
    if (!may) end_racer(task, i, TrialVerdict::inconclusive);
  }
}

// What runs for its class takes turns with the default until a few launches of each tell which one
// stays; again after ever more launches, since the clock may have changed between these few.
void Production::judge_class(ShapeTask& task) {
  if (task.race != nullptr || !task.runs_for_class()) return;
  if (task.slot.class_is_kept()) {
    const bool timed = task.kernel.state->profiling_available();
    if (task.duel_at == 0 || task.launches() < task.duel_at || !timed) return;
    task.of_class.clear();
    task.production.clear();
    task.slot.keep_class(false);
    task.slot.time_launches();
  }
  const Variant& variant = task.slot.of_class;
  grant(task, accounts_.ledger().allowance().count() > 0);
  const TurnTimes times(task.of_class, task.production);
  if (!times.known()) return;
  const std::uint64_t count = variant.trial_launches.exchange(0, std::memory_order_relaxed);
  if (times.loss() > 0) accounts_.launch_was_slower(task, times.loss_of(count));
  if (!times.tell()) return;
  if (times.loss() <= 0) {
    task.slot.keep_class(true);
    task.class_ratio = times.ratio();
    task.defer_duel();
  } else {
    task.of_class.clear();
    task.kernel.state->classes().lost(task.slot, variant.configuration);
  }
  publisher_.note_for_classes(task.kernel, digest_of(variant.configuration), times.loss() <= 0);
}

// Whether the account can bear that or not: launches that are not looked at run the variant as well.
void Production::audit_classes(KernelTask& kernel) {
  constexpr std::uint64_t kBetween = 128;  // launches, where the default costs what was won
  constexpr Nanoseconds kNoMore = std::chrono::seconds(1);
  constexpr std::uint64_t kOthers = 1024;  // launches of other shapes meanwhile
  ClassAudit& audit = kernel.state->classes().audit;
  AuditTimes& known = kernel.audit;
  Device& device = kernel.state->device();
  // A launch of an earlier comparison may have been under way when it ended.
  const auto take = [&](WatchTickets& tickets, RecentTimes& times, std::uint64_t& uncharged) {
    take_times(tickets, device, [&](const WatchTicket& ticket, Nanoseconds time) {
      if (ticket.variant != audit.mark()) return;
      times.add(time);
      ++uncharged;
    });
  };
  std::uint64_t nothing = 0;
  take(audit.of_variant, known.of_variant, known.uncharged);
  take(audit.of_default, known.of_default, nothing);
  const TurnTimes times(known.of_variant, known.of_default);
  if (times.known() && times.loss() > 0) {
    accounts_.launch_was_slower(times.loss_of(std::exchange(known.uncharged, 0)));
  }
  const std::uint64_t variant = audit.variant();
  const bool goes_on = known.launches != audit.launches();
  const std::uint64_t all = kernel.state->unslotted_launches();
  if (goes_on) {
    known.last_launch = now();
    known.last_number = all;
  }
  known.launches = audit.launches();
  const bool told = variant != 0 && times.known() && times.tell();
  if (told) publisher_.note_for_classes(kernel, variant, times.loss() <= 0);
  const bool waits =
      variant == 0 || now() - known.last_launch < kNoMore || all - known.last_number < kOthers;
  if (!told && waits) return;
  // Not always the same launch of a frame.
  audit.begin(all + ++known.rounds % 8 + (told ? kBetween : 0));
  known.of_variant.clear();
  known.of_default.clear();
}

// Of what a race's launches take turns with to the default; 0: unknown. While it is not known
// whether what is to run for its class stays, that is the default.
double Production::class_ratio(const ShapeTask& task) const {
  return task.runs_for_class() && task.slot.class_is_kept() ? task.class_ratio : 1;
}

// What launches of racers took more than what runs would have, all of them, sampled or not. While
// the account cannot bear that, none may come.
void Production::charge_race(ShapeTask& task) {
  const Race& times = task.race->times;
  const double of_class = class_ratio(task);
  const double running = real_ns(task.launch_time()) * (of_class > 0 ? of_class : 1);
  double worst = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Variant& racer = task.variants.racer(i);
    // What trials said of it says little of launches: it is charged when those were timed. Of what
    // runs it has to do: launches of it may have no times for long, since its proof waits.
    const bool alike = times.time(Race::kIncumbent).count() > 0;
    if (times.time(i).count() == 0 || (!alike && running <= 0)) continue;
    const double loss = alike ? running * (times.ratio(i) - 1) : real_ns(times.time(i)) - running;
    const std::uint64_t count = racer.trial_launches.exchange(0, std::memory_order_relaxed);
    if (task.race->trials[i] == nullptr) continue;  // the default: nothing is slower by it
    if (loss > 0) accounts_.launch_was_slower(task, from_ns(loss * static_cast<double>(count)));
    worst = std::max(worst, loss);
  }
  const bool bearable = worst == 0 || accounts_.ledger().allowance().count() > 0;
  grant(task, bearable);
}

void Production::judge_race(ShapeTask& task) {
  charge_race(task);
  Race& times = task.race->times;
  for (std::size_t i = times.size(); i-- > 0;) {
    if (task.variants.racer(i).was_refused()) end_racer(task, i, TrialVerdict::reject_failed);
  }
  // Without times it never ends: trials decide. And what was adopted before comes back now, with
  // which nothing here was compared.
  if (!task.kernel.state->profiling_available() || task.recalled) {
    return end_race(task);
  }
  for (std::size_t i = times.loser(); i < times.size(); i = times.loser()) {
    end_racer(task, i, TrialVerdict::reject_slow);
  }
  if (times.size() > 0 && times.over()) {
    const std::size_t winner = times.best();
    for (std::size_t i = times.size(); i-- > 0;) {
      if (i != winner) end_racer(task, i, TrialVerdict::reject_slow);
    }
    // The others are gone.
    if (times.size() > 0) end_racer(task, 0, TrialVerdict::adopt);
  }
  task.variants.race(times.size() > 0 ? task.race->turns() : 0);
  if (times.size() == 0) task.race.reset();
}

void Production::end_race(ShapeTask& task) {
  while (task.race->times.size() > 0) end_racer(task, 0, TrialVerdict::inconclusive);
  task.variants.race(0);
  task.race.reset();
}

// Out of the race; the last one takes its place.
std::unique_ptr<Variant> Production::take_racer(ShapeTask& task, std::size_t racer) {
  InPlaceTrials& race = *task.race;
  std::unique_ptr<Variant> variant = task.variants.withdraw(racer);
  race.times.remove(racer);
  const std::size_t last = race.times.size();
  if (racer != last) race.trials[racer] = std::move(race.trials[last]);
  return variant;
}

void Production::end_racer(ShapeTask& task, std::size_t racer, TrialVerdict verdict) {
  const Race& times = task.race->times;
  const std::unique_ptr<TryingCandidate> ended = std::move(task.race->trials[racer]);
  if (ended == nullptr) return end_duel(task, racer, verdict);
  StepResult result = StepResult::of(ended->proposal, ended->plan);
  result.verdict = verdict;
  if (result.time.count() > 0) result.time = task.search.evidence().as_now(ended->at_first);
  result.ratio = times.ratio(racer);
  result.pairs = std::min(times.times(racer).count(), times.times(Race::kIncumbent).count());
  // By the clock that what runs was timed by: what launches say is a ratio. What was adopted may be
  // slow in launches only, and the trial may have been by a slower clock than the launches.
  if (result.pairs > 0) {
    const double running = real_ns(task.running_time) * class_ratio(task);
    const Nanoseconds raced = from_ns(running * result.ratio);
    result.candidate = times.time(racer);
    const Nanoseconds seen = std::min(result.time, result.candidate);
    const bool told = running > 0 && task.variants.adopted() == nullptr;
    result.time = told ? raced : std::max(seen, raced);
    result.timed_alike = task.timed_alike && real_ns(result.time) < 1.1 * real_ns(raced);
    result.incumbent = times.time(Race::kIncumbent);
  }
  if (verdict == TrialVerdict::reject_failed) {
    result.status = TrialStatus::runtime;
    result.message = "the driver refused to launch it";
  }
  std::unique_ptr<Variant> variant = take_racer(task, racer);
  if (verdict == TrialVerdict::adopt) {
    return steps_.end_trial(task, result, ended->journaled, std::move(variant));
  }
  publisher_.forget_unproven(task, variant->configuration);
  facts_.end_retry(task.trial(variant->configuration), true);
  task.variants.retire(std::move(variant));
  steps_.end_trial(task, result, ended->journaled);
}

void Production::take_sample(ShapeTask& task, const Variant* variant, Nanoseconds time) {
  // What died before is not trusted for one launch: a while must pass.
  const bool owes = !task.unproven.empty() || !variant->proof.proven();
  if (owes && facts_.may_race(task.facts(), variant->configuration)) {
    for (std::size_t i = task.unproven.size(); i-- > 0;) {
      if (task.unproven[i].trial.configuration == variant->configuration) prove(task, i);
    }
    variant->proof.prove();
  }
  Race* race = task.race != nullptr ? &task.race->times : nullptr;
  const std::size_t racer = task.variants.place_of(variant);
  if (racer < task.variants.racers()) {
    race->add(racer, time);
    return;
  }
  const bool of_class = variant == &task.slot.of_class;
  if (!of_class && variant != &task.variants.running()) return;
  if (race != nullptr) race->add(Race::kIncumbent, time);
  if (of_class) return task.of_class.add(time);
  task.production.add(time);
  task.watch.sample(time);
  // One launch says little: the first may have found cold caches, or a busy machine.
  if (task.default_time.count() == 0) task.running_time = task.production.median();
}

void Production::watch_production(ShapeTask& task) {
  if (task.runs_for_class() && task.slot.of_class.was_refused()) publisher_.stop_for_class(task);
  const Variant* tuned = task.variants.adopted();
  if (tuned == nullptr) return;
  if (tuned->was_refused()) {
    publisher_.demote(task, journal::DemotionReason::refused, "the driver refused to launch it");
    return;
  }
  const WatchStatus status = task.watch.status();
  const bool can_recheck = options_.mode == Mode::tune && task.kernel.can_tune();
  // A race of others must not keep what loses: it may be waiting for the account.
  if (task.race != nullptr && status == WatchStatus::demote && task.race->trials[0] != nullptr) {
    end_race(task);
  }
  if (task.race != nullptr) return;
  const bool known = status != WatchStatus::unavailable && status != WatchStatus::learning;
  const bool loses = status == WatchStatus::demote;
  if (loses || (known && task.launches() >= task.duel_at)) return begin_duel(task, loses);
  const bool unseen = !task.kernel.state->profiling_available() &&
                      task.launches() != task.compared_launches &&
                      (!task.compared_at || now() - *task.compared_at > kCompareAgain);
  if (!can_recheck || (!unseen && status != WatchStatus::recheck)) return;
  const Blocker blocker = accounts_.blocker(task, TimeSource::idle, Nanoseconds{1});
  if (task.kernel.called || blocker == Blocker::limit) {
    return known ? begin_duel(task, true) : void();
  }
  const bool rests = task.work.is(Work::resting) && now() >= task.rests_until;
  if (rests && blocker == Blocker::none) steps_.begin_recheck(task);
}

// Whether only the clock dropped, or rose: the default takes turns with what runs, in the
// application's own launches. They have the last word, and no trial has to find a gap. As nobody
// knows by what clock the default was timed, or on what data, it comes again after ever more
// launches. `loses`: what runs seems to.
void Production::begin_duel(ShapeTask& task, bool loses) {
  constexpr double kSlowdown = 0.5;  // of two, neither of which is known to be the slower one
  constexpr double kMostLostInDuel = 0.01;  // whatever it takes to be adopted
  const bool known = !loses && task.duel_at > 0;
  task.defer_duel();
  Result<std::unique_ptr<Variant>> rival =
      task.kernel.state->build(task.slot, task.slot.fallback.configuration, Selection::fallback);
  if (!rival.ok() || !(*rival)->plan.setup().empty()) {
    if (!loses) return;
    return publisher_.demote(task, journal::DemotionReason::slower_in_launches,
                             "slower in production than the default was");
  }
  StepOptions step = core_.step_options();
  step.hopeless_factor = HUGE_VAL;  // one launch says little, and the first least of all
  step.margin = std::min(step.margin, kMostLostInDuel);
  task.race.reset(new InPlaceTrials(step, kSlowdown, known));
  task.race->join(0);
  task.variants.offer(std::move(*rival));
  task.variants.race(task.race->turns());
}

void Production::end_duel(ShapeTask& task, std::size_t racer, TrialVerdict verdict) {
  const RecentTimes& rival = task.race->times.times(racer);
  const RecentTimes& running = task.race->times.times(Race::kIncumbent);
  // The latest of both: a clock may have changed while one of them had its turns.
  const std::size_t latest = (std::min(rival.count(), running.count()) + 1) / 2;
  const Nanoseconds untuned = rival.typical(Estimator::median, latest);
  const Nanoseconds tuned = running.typical(Estimator::median, latest);
  const bool known = task.race->times_are_known;
  task.variants.retire(take_racer(task, racer));
  if (task.variants.adopted() == nullptr) return;  // it was taken back meanwhile
  if (verdict == TrialVerdict::adopt) {
    return publisher_.demote(task, journal::DemotionReason::slower_in_launches,
                             "slower in launches than the default beside it");
  }
  // Given up, it says nothing: a few times of what is slow in launches would pass for another clock.
  if (verdict != TrialVerdict::reject_slow) return;
  if (!known) task.timed_anew(untuned, tuned);
  task.untuned_launch = untuned;
  task.watch.expect(untuned, tuned);
}

bool Production::launches_are_timed() const {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      if (task->race != nullptr) return true;
    }
  }
  return false;
}

}  // namespace idletune::detail
