#include "agent/tuning/accounts.hpp"

#include <algorithm>
#include <utility>

#include "agent/scheduler/nanoseconds.hpp"

namespace idletune::detail {
namespace {

// Launches whose time nobody could measure (a queue without profiling) before the default is timed:
// as many, or what its runs are charged as if each launch took as long.
constexpr std::uint64_t kBlindLaunches = 100;
constexpr double kBaselineRuns = 7;
// So that the first seconds of tuning, in which most is gained, are not held back.
constexpr Nanoseconds kCompilerBurst = std::chrono::seconds(2);
constexpr std::uint64_t kForecastsKept = 4096;  // some hundred steps: a share to a hundredth

LedgerOptions ledger_options(const AgentOptions& options) {
  LedgerOptions result;
  result.share = options.overhead_limit;
  result.kappa_idle = options.idle_cost;
  result.kappa_cpu = options.compile_cost;
  return result;
}

LedgerState ledger_state(const journal::Ledger& kept) {
  LedgerState state;
  state.charged_ns = kept.charged.count();
  state.kernel_ns = kept.kernel_time.count();
  state.savings_ns = kept.savings.count();
  return state;
}

}  // namespace

Accounts::Accounts(const AgentOptions& options, const journal::Ledger& kept, Nanoseconds now)
    : options_(options),
      kept_(kept),
      ledger_(ledger_options(options), ledger_state(kept)),
      compiler_(options.max_compile_share, now, kCompilerBurst) {}

void Accounts::stage_ended(ShapeTask& task, TimeSource source, const TrialOutcome& outcome,
                           Nanoseconds interference, Nanoseconds now) {
  tuning_wall_ += outcome.wall;
  helper_processor_ += outcome.processor;
  device_time_ += outcome.device;
  task.tuning_wall += outcome.wall;
  if (source != TimeSource::idle) return;
  const std::int64_t before = ledger_.state().charged_ns;
  if (outcome.stage == TrialStage::compile) {
    ledger_.charge_cpu(compile_work(outcome));
    compiler_.spend(now, compile_work(outcome));
    ledger_.charge_idle(outcome.device, interference);  // of the first launch
  } else {
    gap_wall_ += outcome.wall;
    ledger_.charge_idle(outcome.wall, interference);
  }
  task.charged += Nanoseconds(ledger_.state().charged_ns - before);
}

void Accounts::forecast_ended(bool held) {
  if (kept_.forecasts >= kForecastsKept) {
    kept_.forecasts /= 2;
    kept_.held /= 2;
  }
  ++kept_.forecasts;
  kept_.held += held ? 1 : 0;
}

void Accounts::launch_was_slower(ShapeTask& task, Nanoseconds loss) {
  launch_was_slower(loss);
  task.charged += loss;
}

void Accounts::charge_setups(ShapeTask& task) {
  const VariantScratch* scratch = task.setup();
  if (scratch == nullptr) return;
  const std::uint32_t made = scratch->setups_made.load(std::memory_order_relaxed);
  const std::uint32_t fresh = made - std::exchange(task.setups_charged, made);
  if (fresh > 0) launch_was_slower(task, task.setup_price().setup * fresh);
}

namespace {

// Launches since the last call that ran the default since what was adopted had not been set up.
std::int64_t unprepared(ShapeTask& task) {
  const VariantScratch* scratch = task.setup();
  if (scratch == nullptr) return 0;
  const std::uint64_t all = scratch->unprepared_launches.load(std::memory_order_relaxed);
  return static_cast<std::int64_t>(all - std::exchange(task.credited_unprepared, all));
}

}  // namespace

void Accounts::credit_launches(ShapeTask& task, Nanoseconds now) {
  charge_setups(task);
  task.kernel.device->see_clock(now);
  const std::uint64_t launches = task.launches();
  const std::uint64_t fresh = launches - task.credited_launches;
  // What ran since then, or may have: what it was then, or is since what was adopted gave way.
  Nanoseconds of_class = std::exchange(task.class_time, Nanoseconds{0});
  if (task.slot.class_is_kept() && task.runs_for_class()) task.class_time = task.of_class.median();
  if (of_class.count() == 0) of_class = task.class_time;
  const bool ran_for_class = of_class.count() > 0 && task.variants.adopted() == nullptr;
  const Nanoseconds per_launch = ran_for_class ? of_class : task.launch_time();
  if (fresh == 0 || per_launch.count() == 0) return;
  task.credited_launches = launches;
  const std::int64_t count = static_cast<std::int64_t>(std::min<std::uint64_t>(fresh, 1u << 30));
  std::int64_t prepared = count - std::min(count, unprepared(task));
  // The default ran instead, and nobody knows from when on.
  const Variant* adopted = task.variants.adopted();
  if (adopted != nullptr && adopted->was_refused()) prepared = 0;
  if (task.kernel.state->profiling_available()) {
    const Nanoseconds saving = adopted != nullptr ? task.watch.saving_per_launch() : Nanoseconds{0};
    ledger_.credit(per_launch * count, saving * prepared);
  } else {
    // Nobody timed these launches: no more than the clock allows, savings included.
    const Nanoseconds untuned = per_launch + task.least_saving;
    const Nanoseconds granted = task.kernel.device->at_most_the_clock(untuned * count, now);
    const Nanoseconds saved =
        from_ns(real_ns(granted) * real_ns(task.least_saving) / real_ns(untuned) *
                (static_cast<double>(prepared) / static_cast<double>(count)));
    ledger_.credit(granted - saved, saved);
  }
}

Blocker Accounts::blocker(const ShapeTask& task, TimeSource source, Nanoseconds charge) const {
  if (task.kernel.device->ended()) return Blocker::trials;
  if (options_.max_tuning.count() > 0 && device_time_ >= options_.max_tuning) {
    return Blocker::limit;
  }
  if (source != TimeSource::idle) return Blocker::none;
  if (task.default_time.count() == 0 && !task.kernel.state->profiling_available()) {
    // Nothing has been timed, so nothing was credited either: timing the default is what starts the
    // account, once the application has shown that it means it: few launches do if they may have
    // taken long enough. What other shapes' defaults have cost counts, until it is earned.
    const auto launches = static_cast<double>(task.launches());
    const Nanoseconds passed = task.kernel.device->clock_left();
    const bool few = launches * options_.overhead_limit >= kBaselineRuns * options_.idle_cost;
    const bool many = task.launches() >= kBlindLaunches;
    const bool long_enough =
        real_ns(passed) * options_.overhead_limit >= real_ns(charge + ledger_.debt());
    const bool owes = ledger_.debt().count() > 0;
    const bool meant = owes ? many && long_enough : many || (few && long_enough);
    return meant ? Blocker::none : Blocker::ledger;
  }
  return ledger_.allows(charge) ? Blocker::none : Blocker::ledger;
}

Promise Accounts::promise(const ShapeTask& task) const {
  Promise promise;
  promise.share = options_.overhead_limit;
  promise.untuned = task.default_time;
  const double past =
      static_cast<double>(task.default_time.count()) * static_cast<double>(task.launches());
  promise.untuned_past = Nanoseconds(static_cast<std::int64_t>(std::min(past, 9e18)));
  promise.charged = task.charged;
  return promise;
}

Nanoseconds Accounts::compile_limit(const ShapeTask& task, double launches) const {
  const Nanoseconds left = left_of(promise(task), task.running_time, launches);
  return from_ns(real_ns(left) / options_.compile_cost);  // infinite where it costs nothing
}

journal::Ledger Accounts::to_keep() const {
  journal::Ledger account = kept_;
  account.charged = Nanoseconds(ledger_.state().charged_ns);
  account.kernel_time = Nanoseconds(ledger_.state().kernel_ns);
  account.savings = Nanoseconds(ledger_.state().savings_ns);
  return account;
}

}  // namespace idletune::detail
