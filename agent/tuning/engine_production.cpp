// What the application's own launches tell.
#include <algorithm>
#include <utility>

#include "agent/scheduler/nanoseconds.hpp"
#include "agent/tuning/tuning_engine.hpp"

namespace idletune::detail {
namespace {

constexpr Nanoseconds kCompareAgain = std::chrono::minutes(5);
constexpr std::uint32_t kRecheckRounds = 1000;  // calls of run() that a second measurement may wait

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

}  // namespace

// Takes the times of sampled launches.
void TuningEngine::drain_tickets(ShapeTask& task) {
  Device& device = task.kernel.state->device();
  for (std::size_t i = 0; i < ShapeSlot::kTickets; ++i) {
    if (task.slot.ticket_states[i].load(std::memory_order_acquire) != 2) continue;
    WatchTicket& ticket = task.slot.tickets[i];
    const Result<Nanoseconds> time = time_of(ticket, device);
    if (time.code() == StatusCode::busy) continue;
    const Variant* variant = ticket.variant;
    task.slot.ticket_states[i].store(0, std::memory_order_release);
    if (time.ok() && time->count() > 0) take_sample(task, variant, *time);
  }
  if (task.race != nullptr) judge_race(task);
}

void TuningEngine::judge_race(ShapeTask& task) {
  InPlaceRace& times = task.race->times;
  for (std::size_t i = times.candidates(); i-- > 0;) {
    if (task.variants.racer(i).refused.load(std::memory_order_relaxed)) {
      task.slot.enqueue_failures.store(0, std::memory_order_relaxed);  // that was not what runs
      end_racer(task, i, TrialVerdict::reject_failed);
    }
  }
  // Without times it never ends.
  const bool blind = !task.kernel.state->profiling_available();
  for (std::size_t i = times.loser(); i < times.candidates(); i = times.loser()) {
    end_racer(task, i, TrialVerdict::reject_slow);
  }
  if (blind || times.over()) {
    const std::size_t winner = blind ? times.candidates() : times.winner();
    for (std::size_t i = times.candidates(); i-- > 0;) {
      if (i != winner) end_racer(task, i, TrialVerdict::reject_slow);
    }
    // The others are gone.
    if (times.candidates() > 0) end_racer(task, 0, TrialVerdict::adopt);
  }
  task.variants.race(times.candidates() > 0 ? times.turns() : 0);
  if (times.candidates() == 0) task.race.reset();
}

void TuningEngine::end_racer(ShapeTask& task, std::size_t racer, TrialVerdict verdict) {
  InPlaceRace& times = task.race->times;
  auto& trials = task.race->trials;
  const std::unique_ptr<TryingCandidate> ended = std::move(trials[racer]);
  StepResult result = StepResult::of(ended->proposal, ended->plan);
  result.verdict = verdict;
  result.ratio = times.ratio(racer);
  result.pairs = std::min(times.times(racer).count(), times.times(InPlaceRace::kIncumbent).count());
  // By the clock of the trials: what launches say is a ratio.
  if (result.pairs > 0) {
    result.time = from_ns(real_ns(task.running_time) * result.ratio);
    result.candidate = times.times(racer).lower_quartile();
    result.incumbent = times.times(InPlaceRace::kIncumbent).lower_quartile();
  }
  if (verdict == TrialVerdict::reject_failed) {
    result.status = TrialStatus::runtime;
    result.message = "the driver refused to launch it";
  }
  std::unique_ptr<Variant> variant = task.variants.withdraw(racer);
  times.leave(racer);
  if (racer != times.candidates()) trials[racer] = std::move(trials[times.candidates()]);
  if (verdict == TrialVerdict::adopt) {
    return end_trial(task, result, ended->journaled, std::move(variant));
  }
  task.variants.retire(std::move(variant));
  end_trial(task, result, ended->journaled);
}

void TuningEngine::take_sample(ShapeTask& task, const Variant* variant, Nanoseconds time) {
  InPlaceRace* race = task.race != nullptr ? &task.race->times : nullptr;
  const std::size_t racer = task.variants.place_of(variant);
  if (racer < task.variants.racers()) {
    race->add(racer, time);
    const Nanoseconds loss = time - race->times(InPlaceRace::kIncumbent).lower_quartile();
    if (loss.count() > 0 && loss < time) accounts_.launch_was_slower(task, loss);
    return;
  }
  if (variant != &task.variants.running()) return;
  task.production.add(time);
  task.watch.sample(time);
  if (race != nullptr) race->add(InPlaceRace::kIncumbent, time);
  // One launch says little: the first may have found cold caches, or a busy machine.
  if (task.default_time.count() == 0) task.running_time = task.production.median();
}

// Until then the default runs. It is charged when it is allowed: it is made at the next launch.
void TuningEngine::allow_setup(ShapeTask& task) {
  VariantScratch* scratch = task.setup();
  if (scratch == nullptr || scratch->setups_allowed.load(std::memory_order_relaxed) > 0) return;
  SetupSituation situation;
  situation.launches = expected_launches(task);
  situation.said = task.said_launches >= 0;
  situation.allowance = accounts_.ledger().allowance();
  situation.again = scratch->setups_made.load(std::memory_order_relaxed) > 0;
  situation.missed = scratch->unprepared_in_a_row.load(std::memory_order_relaxed);
  const SetupPrice price = task.setup_price();
  if (!setup_pays(price, situation)) return;
  accounts_.launch_was_slower(task, price.setup);
  scratch->setups_allowed.store(1, std::memory_order_relaxed);
}

void TuningEngine::watch_production(ShapeTask& task) {
  const bool tuned = task.variants.adopted() != nullptr;
  const bool refused = task.slot.enqueue_failures.exchange(0, std::memory_order_relaxed) > 0;
  // What runs for its class is nothing that was adopted for it.
  if (refused && task.runs_for_class()) task.variants.publish(nullptr);
  if (refused && tuned) {
    if (is<Rechecking>(task.work)) task.work.emplace<Resting>();
    demote(task, "the driver refused to launch it");
    return;
  }
  if (!tuned || task.race != nullptr || is<Installing>(task.work)) return;
  const WatchStatus status = task.watch.status();
  const bool loses = status == WatchStatus::demote;
  const bool unseen = !task.kernel.state->profiling_available() &&
                      (!task.compared_at || now() - *task.compared_at > kCompareAgain);
  if (!loses && !unseen && status != WatchStatus::recheck) return;
  const bool can_recheck = options_.mode == Mode::tune && task.kernel.can_tune();
  auto* recheck = std::get_if<Rechecking>(&task.work);
  if (recheck != nullptr && ++recheck->rounds < kRecheckRounds) return;
  if (loses && (recheck != nullptr || !can_recheck)) {
    // Nobody can say whether only the clock dropped: the default is what was promised.
    if (recheck != nullptr) task.work.emplace<Resting>();
    demote(task, "slower in production than the default was");
    return;
  }
  if (is<Resting>(task.work) && can_recheck) begin_recheck(task);
}

// A throttled clock slows the default down as well: both are measured again, side by side.
void TuningEngine::begin_recheck(ShapeTask& task) {
  task.compared_at = now();
  const CandidateContext context =
      candidate_context(task, task.running(), task.slot.fallback.configuration);
  task.work.emplace<Rechecking>(Rechecking{CandidateTrial(step_options(), context)});
}

}  // namespace idletune::detail
