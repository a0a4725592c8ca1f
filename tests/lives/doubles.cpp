// What the doubles of runner, device and disk make of what the agent asks for.
#include <algorithm>
#include <utility>

#include "agent/host/lab/replayed_trials.hpp"
#include "tests/lives/draw.hpp"
#include "tests/lives/journals.hpp"
#include "tests/lives/simulation.hpp"

namespace idletune::lives {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// --- the runner ---

std::unique_ptr<TrialRunner> Simulation::make_runner() {
  PlayedRunner::Script script;
  script.starts = [this](const TrialRequest& request) {
    fly(request);
    return outcome_of(request);
  };
  script.ended = [this](const TrialRequest& request, const TrialOutcome& outcome) {
    landed(request, outcome);
  };
  script.gone = [this] {
    if (alive()) flying_.reset();
  };
  return std::make_unique<PlayedRunner>(*time_, world_.isolated, std::move(script));
}

void Simulation::fly(const TrialRequest& request) {
  if (!alive()) return;
  note_open();
  note_adopted();
  flying_ = request;
  announced_in_vain_ = 0;
  if (lost_told_) promises_.lost_device_rests(true, true);
  const int c = world_.index_of(request.configuration), s = world_.index_of(request.shape);
  if (c > 0) {
    note_measured(c);
    const bool runs = runs_configuration(request.stage);
    const Handed handed{c, s, name_of(process_->role(c, s)), runs, !world_.isolated};
    promises_.never_twice_bitten(handed);
    bool& adopted = reference_.of(c).adopted;
    adopted = adopted || process_->is_adopted(c);
    promises_.suspects_rest(handed, process_->is_suspect(c) && !process_->has_survived(c), adopted);
    announce(handed);
    if (world_.isolated) promises_.announced_alone(handed, process_->announced_beside(s));
    reference_.stage_began(request, disk_->operations.size());
  }
  if (plans_.stages_to_death > 0 && --plans_.stages_to_death == 0)
    return die(plans_.death_at_stage);
  if (plans_.stages_to_freezing > 0 && --plans_.stages_to_freezing == 0) {
    time_->freeze(std::chrono::seconds(plans_.freezing_seconds));
    froze_ = true;
    // Runs that have deadlines did not take longer: of the reference, to warm up, of a setup, timed.
    double awake = plans_.freezing_seconds;
    const double longest = in_seconds(request.deadline) * (3 + request.repeats);
    if (longest > 0) awake = std::min(awake, longest);
    if (!world_.isolated) bill_.frozen += awake;
  }
  if (world_.isolated || c <= 0 || !runs_configuration(request.stage)) return;
  // In our own process.
  const Nature nature = world_.nature(reference_.driver(), c);
  const bool often = nature == Nature::crash_often && one_in(5, 90, c);
  const bool lent = !request.captured.empty();
  if (world_.crashes(reference_.driver(), c, s, lent) || often || nature == Nature::memory)
    die(Death::kill);
}

// Not while a storage fails, or comes back.
void Simulation::announce(const Handed& handed) {
  if (!handed.executes || ending_.faults || !process_->storage_ok()) return;
  const bool announced = process_->announced(handed.c, handed.s);
  promises_.announced_first(handed, announced,
                            announced && announced_on_medium(handed.c, handed.s));
}

bool Simulation::one_in(std::uint64_t n, std::uint64_t what, int c) {
  return mix(world_.seed, what, static_cast<std::uint64_t>(c), counter_++) % n == 0;
}

Nanoseconds Simulation::at_speed(Nanoseconds time) const {
  return Nanoseconds(static_cast<std::int64_t>(static_cast<double>(time.count()) * speed_));
}

TrialStatus Simulation::status_of(int c, const TrialRequest& request) {
  if (process_->in_quirks(c)) return TrialStatus::constraints;
  const int driver = reference_.driver(), s = world_.index_of(request.shape);
  const TrialStage stage = request.stage;
  const bool lent = !request.captured.empty();
  const Nature nature = world_.nature(driver, c);
  TrialStatus status = TrialStatus::correct;
  if (nature == Nature::refused) status = TrialStatus::compile;
  if (nature == Nature::hang) status = TrialStatus::timeout;
  const bool check = stage == TrialStage::check;
  const bool late_wrong =
      nature == Nature::wrong_late && check && checks_of_[c]++ >= world_.lateness(c);
  if (check && (late_wrong || world_.wrong(driver, c, s, lent))) status = TrialStatus::correctness;
  if (!runs_configuration(stage)) return status;
  const std::uint64_t run = runs_of_[c]++;
  const bool late = nature == Nature::crash_late && run > 3 * world_.lateness(c);
  const bool often = nature == Nature::crash_often && one_in(5, 91, c);
  if (world_.crashes(driver, c, s, lent) || late || often) {
    const bool hangs =
        nature != Nature::crash && mix(world_.seed, 92, static_cast<std::uint64_t>(c)) % 3 == 0;
    status = hangs && world_.isolated ? TrialStatus::timeout : TrialStatus::crash;
  }
  return nature == Nature::memory ? TrialStatus::crash : status;
}

bool Simulation::loses_device(const TrialRequest& request) {
  return request.stage != TrialStage::compile && plans_.stages_to_loss > 0 &&
         --plans_.stages_to_loss == 0;
}

void Simulation::prepare_data(const TrialRequest& request, TrialOutcome& outcome) {
  if (request.stage == TrialStage::prepare) {
    outcome.device = outcome.wall = milliseconds(1);
    if (plans_.memory_short > 0) {
      --plans_.memory_short;
      outcome.status = TrialStatus::runtime;
      outcome.message = "out of memory";
      outcome.reference = ReferenceRun::none;  // not even a helper starts
    }
  }
  const bool enters = request.stage != TrialStage::compile && !request.captured.empty();
  if (enters && !lent_.holds(request.captured, request.captured_digest)) {
    outcome.stage = TrialStage::prepare;
    outcome.status = TrialStatus::constraints;
    outcome.message = "damaged, or replaced by others";
  }
}

// Somebody else ended the step at that shape: what is on record of its candidate stays.
void Simulation::in_vain(int s) {
  const int candidate = process_->candidate_at(s);
  if (candidate > 0) reference_.of(candidate).timed_in_vain(s);
}

TrialOutcome Simulation::outcome_of(const TrialRequest& request) {
  const int c = world_.index_of(request.configuration), s = world_.index_of(request.shape);
  Nanoseconds run = at_speed(world_.time(c, s));
  if (plans_.noisy > 0 && c > 0 && runs_configuration(request.stage) && alive() &&
      process_->candidate_at(s) == c) {
    --plans_.noisy;
    run += run / 5;
  }
  const TrialStatus status = c > 0 ? status_of(c, request) : TrialStatus::correct;
  TrialOutcome outcome = stage_of({status, run, milliseconds(20)}, request);
  outcome.ambiguous = outcome.status == TrialStatus::crash && c > 0 &&
                      world_.nature(reference_.driver(), c) == Nature::memory;
  prepare_data(request, outcome);
  if (plans_.reaped > 0 && outcome.status == TrialStatus::crash && world_.isolated) {
    --plans_.reaped;
    outcome.ambiguous = true;
  }
  if (world_.isolated && plans_.stages_to_killing > 0 && --plans_.stages_to_killing == 0) {
    outcome.status = TrialStatus::crash;
    outcome.ambiguous = true;
    outcome.message = "the helper killed by signal 9";
    if (outcome.stage == TrialStage::prepare) outcome.reference = ReferenceRun::none;
  }
  const bool new_helper = std::exchange(lost_, lost_ || (world_.isolated && loses_device(request)));
  if (lost_) {
    if (new_helper) outcome.stage = TrialStage::prepare;  // the reference runs first
    outcome.reference = new_helper ? ReferenceRun::failed : ReferenceRun::well;
    outcome.status = TrialStatus::crash;
    outcome.ambiguous = false;
    outcome.message = "it crashed";
  }
  if (plans_.starved > 0) {
    --plans_.starved;
    outcome.wall *= 10;
  }
  if (world_.has_setup(c) && runs_configuration(request.stage))
    outcome.setup = at_speed(3 * world_.time(0, 0));
  if (runs_configuration(request.stage))
    reference_.of(c).timed(s, speed_ != 1, {reference_.life(), disk_->operations.size()});
  if (outcome.status == TrialStatus::crash && (outcome.ambiguous || lost_)) in_vain(s);
  if (request.stage != TrialStage::compile) {
    flight_ends_ = time_->now() + outcome.device;
    flight_run_ = request.stage == TrialStage::prepare     ? Nanoseconds(milliseconds(1))
                  : outcome.status == TrialStatus::timeout ? outcome.device
                                                           : run;
    flight_is_charged_ = calling_ == name_of(Kind::gap) || calling_ == name_of(Kind::background);
  }
  outcome.wall = std::max<Nanoseconds>(outcome.wall, microseconds(10));
  bill_.longest_stage =
      std::max(bill_.longest_stage, static_cast<double>(outcome.wall.count()) * 1e-9);
  life_bill_.longest_stage = bill_.longest_stage;
  return outcome;
}

void Simulation::landed(const TrialRequest& request, const TrialOutcome& outcome) {
  if (!alive() && !ends_in_order()) return;
  if (alive()) note_adopted();  // meanwhile another may have begun to run
  flying_.reset();
  life_bill_.waited += std::exchange(waited_in_flight_, 0);
  const int c = world_.index_of(request.configuration), s = world_.index_of(request.shape);
  reference_.helper_told(outcome, disk_->operations.size());
  const bool reference_failed = outcome.reference == ReferenceRun::failed;
  lost_told_ = lost_told_ || reference_failed;
  if (c <= 0) return;
  if (lost_ && outcome.status == TrialStatus::crash) {
    reference_.died_of_the_device(c, reference_failed);
    return;
  }
  const bool asks = alive();  // an agent that ends cannot be asked
  const bool remembered =
      world_.isolated && ending_.storage_ok && (!asks || process_->storage_ok());
  reference_.stage_ended(request, outcome, asks ? process_->role(c, s) : Role::candidate,
                         disk_->operations.size(), remembered);
}

// --- the device ---

void Simulation::make_device() {
  device_ =
      std::make_shared<PlayedDevice>(std::to_string(World::version_of(reference_.driver()) + 1));
  device_->profiling = world_.profiling;
  device_->on_compile = [this](Values values) { return compiled(values); };
  device_->on_run = [this](Values values, Nanoseconds deadline) {
    return warmed_up(values, deadline);
  };
  device_->on_launch = [this](const Enqueued& step) {
    return step.entry == "convert" ? prepared(step) : launched(step);
  };
  device_->on_order = [this]() -> Status {
    if (refused_orders_ == 0) return {};
    --refused_orders_;
    return Status(StatusCode::device_error, "queues of other contexts have no order");
  };
}

// For launches. A death in a build counts as one at a stage.
void Simulation::is_built(int c) {
  built_.insert(c);
  reference_.of(c).built = true;
  if (plans_.stages_to_death > 0 && --plans_.stages_to_death == 0) die(plans_.death_at_stage);
}

Status Simulation::compiled(Values values) {
  const int c = index_of(values);
  promises_.launches_only_launch(launching_ && time_->on_main_thread(), "compiles");
  if (alive() && c > 0) {
    promises_.quirks_rest(c, process_->in_quirks(c), "build");
    announce({c, -1, "build", true, true});
    is_built(c);
  }
  Nanoseconds time = milliseconds(1 + mix(world_.seed, 93, counter_++) % 30);
  if (plans_.slow_builds > 0) {
    --plans_.slow_builds;
    time = plans_.build_time;
  }
  if (c > 0) time_->pass(time);
  const Nature nature = world_.nature(reference_.driver(), c);
  if (c > 0 && (nature == Nature::refused_build || nature == Nature::refused))
    return Status(StatusCode::compile_error, "refused");
  return {};
}

Status Simulation::warmed_up(Values values, Nanoseconds deadline) {
  const int c = index_of(values);
  if (alive() && c > 0) {
    const Handed handed{c, -1, "warm-up", true, true};
    promises_.never_twice_bitten(handed);
    // What launches have shown runs ahead of them like one of them.
    const auto first = launched_.lower_bound({c, 0});
    if (first == launched_.end() || first->first.first != c) announce(handed);
    is_built(c);
  }
  if (world_.nature(reference_.driver(), c) != Nature::hang_warm_up) {
    if (alive() && c > 0) reference_.of(c).outcome = true;  // of its death while it was built
    return {};
  }
  time_->pass(deadline);
  if ((alive() || death_ == Death::clean) && !reference_.of(c).bitten.there()) {
    reference_.of(c).ever_bitten = true;
    const bool seen = time_->on_main_thread();
    reference_.of(c).bitten = {reference_.life(), seen ? disk_->operations.size() : Fact::kUnseen};
    reference_.of(c).bitten_as = "warm-up";
  }
  return Status(StatusCode::timeout, "it never ended");
}

// For what of the stage in flight is on the device before it.
Nanoseconds Simulation::wait_for_stage() {
  const Nanoseconds left = flight_ends_ - time_->now();
  return flying_ && left.count() > 0 ? std::min(left, flight_run_) : Nanoseconds{0};
}

// A setup: its launch pays for it, and is the first of many.
Result<Nanoseconds> Simulation::prepared(const Enqueued& setup) {
  if (!alive()) return Nanoseconds{1};
  if (bad_launch_) return Status(StatusCode::device_error, "the application's own fault");
  prepared_[setup.second] = process_->constants();
  const Nanoseconds time = at_speed(3 * world_.time(0, 0));
  for (Bill* bill : {&bill_, &life_bill_}) {
    bill->actual += in_seconds(time);
    bill->forgiven += in_seconds(time);
  }
  take_time(time);
  return time;
}

// Of a launch. Where variants have setups it holds a lock, which nobody else may wait for in played
// time: there the time passes behind it.
void Simulation::take_time(Nanoseconds time) {
  if (!world_.setups) return time_->pass(time);
  owed_ += time;
}

Result<Nanoseconds> Simulation::launched(const Enqueued& step) {
  if (!alive()) return Nanoseconds{1};
  const int c = index_of(step.values), s = process_->shape_of(step.first);
  // Also where it is refused: something of it may have begun.
  Launched& pair = launched_[{c, s}];
  if (pair.times++ == 0) pair.first = time_->now();
  pair.last = time_->now();
  if (!world_.called && step.items != world_.items(step.values.a, s)) std::abort();
  if (bad_launch_) return Status(StatusCode::device_error, "the application's own fault");
  const int driver = reference_.driver();
  const Nature nature = world_.nature(driver, c);
  const Runs runs = process_->runs(c, s);
  if (told_failed_.count({c, s}) > 0) promises_.failed_rest(c, s, name_of(runs));
  if (runs == Runs::adopted) note_adopted(s, c);
  if (c > 0 && nature == Nature::refused_launch && !world_.called)
    return Status(StatusCode::device_error, "refused");
  if (c > 0) check_launch(c, s, runs);
  if (step.entry == "scale")
    promises_.prepared_of_these(c, s, prepared_[step.second] == process_->constants());
  device_->profiling = world_.profiling && untimed_ == 0;
  untimed_ = std::max(0, untimed_ - 1);
  const Nanoseconds time = at_speed(world_.launch_time(driver, c, s));
  const TrialStatus status = world_.status_of_call(driver, c, s, pair.times);
  if (status != TrialStatus::correct) {
    failures_.push_back({c, s, {status, time}});
    const double lost = in_seconds(time);
    for (Bill* bill : {&bill_, &life_bill_}) {
      bill->actual += lost;
      bill->loss["failed"] += lost;
    }
    take_time(time);
    device_->profiling = false;  // of this one
    return time;
  }
  bill(c, s, runs, time);
  const bool dies =
      world_.crashes(driver, c, s) || (nature == Nature::crash_launch && one_in(50, 94, c));
  if (c > 0 && dies) {
    Known& known = reference_.of(c);
    // The first makes it a suspect, which trials may acquit.
    if (known.app_deaths.size() >= 2) {
      report_.say(std::string("I2:application-dies-again-of-") + name_of(runs),
                  world_.text(driver, c) + " at " +
                      std::to_string(world_.sizes[static_cast<std::size_t>(s)]));
    }
    // Launches that went well for a while have acquitted it.
    const bool seen = pair.looked || !time_->on_main_thread();  // or may have been
    const bool fresh = time_->now() - pair.first < std::chrono::milliseconds(9900);
    if (!seen && fresh && !ending_.faults) {
      known.app_deaths.insert(reference_.life());
      ending_.fatal = c;
    }
    die(Death::launch);
  }
  if (c > 0 && alive()) reference_.of(c).outcome = true;
  take_time(time + microseconds(5));
  return time;
}

void Simulation::check_launch(int c, int s, Runs runs) {
  const std::string as = name_of(runs);
  const Handed handed{c, s, as, true, true};
  if (runs == Runs::racer) {
    Known& known = reference_.of(c);
    // What was launched here for its class before has shown what it does.
    const Launched& launches = launched_.at({c, s});
    if (!known.raced && launches.first == launches.last) announce(handed);
    known.raced = true;
    if (speed_ != 1) known.timed_slow.insert(s);  // maybe beside what was timed before
    known.last_stage = {reference_.life(), disk_->operations.size()};
  }
  promises_.never_twice_bitten(handed);
  promises_.quirks_rest(c, process_->in_quirks(c), as);
  const bool suspect = process_->is_suspect(c);
  const bool cleared = suspect && runs != Runs::racer && process_->has_survived(c);
  const bool again = world_.called && reference_.of(c).cut;
  promises_.suspects_rest(handed, suspect && !cleared && !again, false);
  promises_.never_wrong(c, s, as);
  if (world_.captures && runs == Runs::adopted && process_->recorded_at(s) == c)
    promises_.checked_on(process_->data_at(s), c, s, as);
  promises_.launches_run_what_is_published(c, s, runs);
}

void Simulation::bill(int c, int s, Runs runs, Nanoseconds time) {
  const Nanoseconds waited = wait_for_stage();
  const double actual = in_seconds(time), standard = in_seconds(at_speed(world_.in_launches(0, s)));
  // Two threads that wait for the same stage lose that time once.
  const Nanoseconds from = std::max(time_->now(), waited_until_);
  waited_until_ = std::max(from, time_->now() + waited);
  const double waiting = in_seconds(waited_until_ - from);
  // What is compared takes turns with what stays.
  const bool turns = runs == Runs::racer || (runs == Runs::by_class && !process_->class_is_kept(s));
  Running& running = running_[s];
  if (!turns && running.configuration != c) running = {c};
  if (!turns) ++running.launches;
  const bool slow_launch = world_.nature(reference_.driver(), c) == Nature::slow_launch;
  // Nobody times what has no slot, or a device that has no times.
  const bool blind = slow_launch && (!device_->profiling || runs == Runs::unslotted);
  if (blind) running.looks = 0;
  const double incumbent =
      in_seconds(at_speed(world_.launch_time(reference_.driver(), running.configuration, s)));
  // What trials say that it saves, tuning may spend.
  const double believed = standard - in_seconds(at_speed(world_.in_launches(c, s)));
  const bool unseen = blind || (!turns && running.looks < Promises::kLooksToNotice);
  const double saved = unseen && actual > standard ? 0 : standard - actual;
  for (Bill* bill : {&bill_, &life_bill_}) {
    bill->longest_launch = std::max({bill->longest_launch, actual, standard});
    bill->actual += actual + waiting;
    bill->standard += standard;
    if (waiting > 0) (flight_is_charged_ ? bill->loss["waiting"] : bill->forgiven) += waiting;
    if (runs == Runs::adopted) bill->saved += blind ? believed : saved;
    bill->odd = bill->odd || (runs == Runs::adopted && slow_launch);
    if (blind && runs == Runs::adopted) bill->forgiven += std::max(0.0, believed);
    if (actual <= standard) continue;
    if (runs == Runs::by_class) bill->classes += actual - standard;
    if (unseen) {
      bill->forgiven += actual - standard;
    } else {
      bill->loss[name_of(runs)] += actual - standard;
    }
  }
  if (flight_is_charged_) waited_in_flight_ += waiting;
  // What takes turns counts as what it takes turns with.
  const double beside = runs == Runs::by_class ? standard : runs == Runs::racer ? incumbent : 0;
  if (runs != Runs::unslotted) life_bill_.credited += std::max(actual, beside);
  // Who launches beside a look may do so behind it.
  const bool seen = runs == Runs::racer || time_->on_main_thread();
  if (turns && seen && c > 0 && actual > incumbent) {
    raced_since_look_ += actual - incumbent;
    const bool untold = world_.profiling && !device_->profiling;
    if (!untold && (bill_.untimed || !process_->in_debt())) raced_in_debt_.clear();
    // While the clock changes nobody knows who takes longer.
    if (launched_.at({c, s}).looked && !bill_.slowed)
      promises_.debts_rest(c, s, ++raced_in_debt_[s]);
  }
  if (waited.count() > 0) take_time(waited);
}

// --- the disk ---

void Simulation::make_disk(const test::Files& files) {
  disk_ = std::make_shared<test::Disk>(files);
  disk_->before_sync = [this] { before_sync(); };
  disk_->before_change = [this] { before_change(); };
}

void Simulation::before_sync() {
  if (alive()) promises_.callers_do_not_sync(time_->on_main_thread(), calling_);
  note_open();
  count_announcement();
  Nanoseconds time = microseconds(100 + mix(world_.seed, 95, counter_++) % 4000);
  if (plans_.slow_syncs > 0) {
    --plans_.slow_syncs;
    time = plans_.sync_time;
  }
  time_->pass(time);
}

// The process dies between two operations; what it asks for afterwards does not happen.
void Simulation::before_change() {
  if (!alive()) return;
  promises_.launches_only_launch(launching_ && time_->on_main_thread(), "writes");
  if (plans_.death_at_write == Death::none || writes_-- > 0) return;
  constexpr std::size_t kRecords = 4;  // of an outcome
  ending_.between = process_->announced();
  for (const journal::Dangers::OpenTrial& open : open_trials_in(disk_->files()))
    ending_.between.insert(world_.index_of(open.trial.configuration));
  for (int c = 1; c < world_.count(); ++c) {
    const Fact& last = reference_.of(c).last_stage;
    if (last.there() && last.operation + kRecords >= disk_->operations.size())
      ending_.between.insert(c);
  }
  die(std::exchange(plans_.death_at_write, Death::none));
}

// Of a file beside the journal, on the same disk.
Status Simulation::before_write(FileSync sync) {
  const bool fails = disk_->fails();
  if (!fails && alive() && sync == FileSync::yes) time_->pass(milliseconds(1));
  return !fails && alive() ? Status() : Status(StatusCode::io_error, "nothing is written");
}

}  // namespace idletune::lives
