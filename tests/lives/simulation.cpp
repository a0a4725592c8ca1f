// What happens. doubles.cpp: what comes of what the agent asks for; deaths.cpp: how lives end and
// begin.
#include "tests/lives/simulation.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "models/core/digest.hpp"
#include "tests/lives/draw.hpp"
#include "tests/lives/wall_clock.hpp"

namespace idletune::lives {

using std::chrono::microseconds;
using std::chrono::milliseconds;

Simulation::Simulation(const World& world, const std::vector<Event>& events, bool print)
    : world_(world),
      events_(events),
      print_(print),
      report_(print),
      reference_(world),
      promises_(world, reference_, report_),
      solving_(world, report_, solving_parts()),
      time_(std::make_shared<PlayedTime>()),
      in_place_(world.in_place) {
  wall_clock_follows(*time_);
  lent_.on_write = [this](FileSync sync) { return before_write(sync); };
  if (world.has_model && !world.slots) {
    const auto others = static_cast<std::uint64_t>(world.count() - 1);
    model_ = world.model_saying(1 + static_cast<int>(mix(world.seed, 50) % others), 0);
  }
}

Simulation::~Simulation() = default;

std::vector<Violation> Simulation::run() {
  make_disk(test::Files());
  begin_life();
  for (std::size_t i = 0; i < events_.size(); ++i) {
    report_.event = i;
    step(events_[i]);
    if (alive()) check_standing();
    if (!alive()) next_life();
  }
  report_.event = events_.size();
  end_quietly();
  end_process(false);
  return report_.violations();
}

Solving::Parts Simulation::solving_parts() {
  Solving::Parts parts;
  parts.time = [this] { return time_.get(); };
  parts.alive = [this] { return alive(); };
  parts.dies = [this] { die(Death::kill); };
  parts.speed = [this] { return speed_; };
  parts.keeps = [this] { return !ending_.faults && process_->storage_ok(); };
  parts.operations = [this] { return disk_->operations.size(); };
  parts.synced_since = [this](std::size_t operation) {
    return synced_between(*disk_, operation, disk_->operations.size(), world_.syncs());
  };
  parts.on_medium = [this](std::uint64_t digest) {
    return process_->noted_in(journal_on_medium(), digest);
  };
  parts.entered = [this](double work, double lost) {
    for (Bill* bill : {&bill_, &life_bill_}) bill->solved += work, bill->solving += lost;
  };
  return parts;
}

int Simulation::index_of(Values values) const {
  return world_.index_of(Configuration{values.a, values.b});
}

// --- events ---

void Simulation::step(const Event& event) {
  if (print_) std::printf("  %zu: %s\n", report_.event, to_text({event}).c_str());
  calling_ = name_of(event.kind);
  tell_failures();
  switch (event.kind) {
    case Kind::launch: return launch(event.a, event.b);
    case Kind::gap: return gap(microseconds(event.a), false);
    case Kind::tune: return gap(microseconds(event.a), true);
    case Kind::background: return background(milliseconds(event.a));
    case Kind::frames: return frames(event.a, event.b);
    case Kind::thread: return launch_beside(event.a, event.b);
    case Kind::prepare: process_->prepare(event.a); return looked(false);
    case Kind::expect: return process_->expect(event.a, event.b);
    case Kind::capture: return capture(event.a, event.b);
    case Kind::explain: return process_->explain();
    case Kind::flush:
      if (!process_->flush().ok() || !alive()) return;
      check_standing();  // what was acknowledged before
      flushed_ = acknowledged_ = process_->snapshot();
      has_acknowledged_ = true;
      return solving_.flushed();
    case Kind::model:
      if (world_.slots) return models(event);
      model_ = event.a == 0 ? nullptr : world_.model_saying(event.a, event.b);
      return process_->use_model(model_);
    case Kind::bad_launch:
      bad_launch_ = excused_ = true;
      launch(event.a, 1);
      bad_launch_ = false;
      return;
    case Kind::solve: return solving_.solve(event.a, event.b);
    case Kind::multiply: return solving_.multiply(event.a, event.b);
    case Kind::new_solver: return solving_.begin_anew(event.a);
    case Kind::bad_product: return solving_.error_after(event.a);
    case Kind::clean_end: return die(Death::clean);
    case Kind::kill: return die(Death::kill);
    case Kind::power_cut: return die(Death::cut);
    case Kind::pause: return time_->pass(std::chrono::seconds(event.a));
    case Kind::in_place: in_place_ = event.a != 0; return process_->allow_in_place(in_place_);
    default: return step_of_the_board(event);
  }
}

// Some are older than what is there, or came before.
void Simulation::models(const Event& event) {
  if (event.a != 0) {
    const std::uint64_t age = event.b % 4 == 3 ? 2 : 0;
    const std::uint64_t generation = std::max<std::uint64_t>(1 + age, ++generation_) - age;
    if (event.b % 4 != 2 || pushed_.empty())
      pushed_ = world_.model_saying(event.a, event.b, generation);
    return push_model(disk_, pushed_);
  }
  const Models before = process_->models();
  const bool confirms = event.b % 2 == 0;
  if (!confirms) told_models_.rejects(before);
  const Status done = confirms ? process_->confirm_model() : process_->reject_model();
  if (!alive() || !done.ok() || !process_->storage_ok()) return;
  confirms ? told_models_.confirmed(process_->models()) : told_models_.rejected(before.used);
}

void Simulation::step_of_the_board(const Event& event) {
  switch (event.kind) {
    case Kind::board_speed:
      speed_ = event.a / 10.0;
      bill_.slowed = life_bill_.slowed = bill_.slowed || event.a != 10;
      return;
    case Kind::sensors: busy_ = event.a != 0; return;
    case Kind::device_lost: plans_.stages_to_loss = event.a; return;
    case Kind::untimed:
      untimed_ = event.a;
      bill_.untimed = life_bill_.untimed = true;
      return;
    case Kind::storage_fails:
      disk_->fault.first = disk_->changes + static_cast<std::uint64_t>(event.a);
      disk_->fault.count = static_cast<std::uint64_t>(event.b);
      disk_->fault.code = event.b % 2 ? StatusCode::io_error : StatusCode::no_space;
      disk_->fault.torn = event.a % 2 == 0;
      ending_.faults = true;
      return;
    case Kind::slow_medium:
      plans_.sync_time = milliseconds(event.a);
      plans_.slow_syncs = event.b;
      return;
    case Kind::slow_compiler:
      plans_.build_time = milliseconds(event.a);
      plans_.slow_builds = event.b;
      return;
    case Kind::memory_short: plans_.memory_short = event.a; return;
    case Kind::helper_killed: plans_.stages_to_killing = event.a; return;
    case Kind::helper_reaped: plans_.reaped = event.a; return;
    case Kind::starved: plans_.starved = event.a; return;
    case Kind::noise:
      plans_.noisy = event.a;
      bill_.noisy = life_bill_.noisy = true;
      return;
    case Kind::frozen:
      plans_.stages_to_freezing = event.a;
      plans_.freezing_seconds = event.b;
      return;
    case Kind::kill_at_stage:
    case Kind::cut_at_stage:
      plans_.stages_to_death = event.a;
      plans_.death_at_stage = event.kind == Kind::kill_at_stage ? Death::kill : Death::cut;
      return;
    case Kind::kill_at_write:
    case Kind::cut_at_write:
      plans_.death_at_write = event.kind == Kind::kill_at_write ? Death::kill : Death::cut;
      writes_ = static_cast<std::size_t>(event.a);
      return;
    case Kind::wall_clock: wall_clock_passes(std::chrono::seconds(event.a)); return;
    case Kind::next_driver: next_driver_ = event.a; return;
    case Kind::quirk: next_quirk_ = event.a % world_.count(); return;
    default: return;
  }
}

void Simulation::launch(int s, int times) {
  for (int i = 0; i < times && alive(); ++i) launch_once(s);
}

void Simulation::launch_once(int s) {
  const int refused = refused_orders_;
  const bool on_main_thread = time_->on_main_thread();
  launching_ = launching_ || on_main_thread;
  const Status status = process_->launch(s);
  launching_ = launching_ && !on_main_thread;
  if (alive() && refused == refused_orders_ && !bad_launch_ && !status.ok())
    promises_.launches_run(s, status);
  if (const Nanoseconds owed = std::exchange(owed_, Nanoseconds{0}); owed.count() > 0)
    time_->pass(owed);
  if (time_->on_main_thread()) tell_failures();
}

void Simulation::tell_failures() {
  for (const Failure& failure : std::exchange(failures_, {})) {
    if (!alive()) return;
    raced_since_look_ += static_cast<double>(failure.measurement.run_time.count()) * 1e-9;
    reference_.call_failed(failure.c, failure.s, failure.measurement.status,
                           disk_->operations.size());
    process_->call_failed(failure.c, failure.s, failure.measurement);
    told_failed_.insert({failure.c, failure.s});
    // It looks at the shape's other calls first.
    for (auto& [pair, launched] : launched_) launched.looked |= pair.second == failure.s;
  }
}

void Simulation::frames(int s, int times) {
  for (int i = 0; i < times && alive(); ++i) {
    launch(s, 10);
    if (alive()) gap(milliseconds(1), false);
  }
}

// Another thread of the application's; what it launches comes when time passes.
void Simulation::launch_beside(int s, int times) {
  if (time_->threads() >= 3) return;
  (void)time_->begin([this, s, times] {
    for (int i = 0; i < times && alive(); ++i) {
      launch_once(s);
      time_->pass(microseconds(300));
    }
  });
}

// What it costs is charged, and asked for.
void Simulation::capture(int s, int data) {
  if (!world_.captures) return;
  const Nanoseconds start = time_->now();
  process_->capture(s, data);
  const double took = static_cast<double>((time_->now() - start).count()) * 1e-9;
  for (Bill* bill : {&bill_, &life_bill_}) bill->captured += took;
}

void Simulation::gap(Nanoseconds length, bool granted) {
  called_at_ = time_->now();
  const Nanoseconds end = called_at_ + length;
  froze_ = false;
  (void)(granted ? process_->tune(length) : process_->idle(length));
  // What was pushed is written where idle() looks for it.
  if (alive() && world_.worker && world_.isolated && !world_.slots && !froze_)
    promises_.gaps_are_kept(time_->now() - end);
  looked();
  time_->pass(end - time_->now());
}

void Simulation::background(Nanoseconds length) {
  const Nanoseconds end = time_->now() + length;
  while (alive() && time_->now() < end) {
    called_at_ = time_->now();
    const Nanoseconds sleep = process_->background_round();
    if (alive()) tell_failures();
    if (alive()) told_->deliver();
    looked();
    time_->pass(std::max<Nanoseconds>(sleep, milliseconds(1)));
  }
}

// A stage begins, or it was one more in vain.
void Simulation::count_announcement() {
  if (!alive() || flying_ || process_->announced_in_helper().empty()) return;
  if (time_->now() - first_in_vain_ > std::chrono::minutes(1)) announced_in_vain_ = 0;
  if (announced_in_vain_++ == 0) first_in_vain_ = time_->now();
  promises_.announcements_are_used(announced_in_vain_);
}

void Simulation::note_open() {
  if (alive() && process_ != nullptr)
    reference_.are_open(process_->announced(), disk_->operations.size());
}

void Simulation::note_adopted() {
  for (int s = 0; s < world_.shapes() && alive(); ++s) note_adopted(s, process_->adopted_at(s));
}

void Simulation::note_adopted(int s, int is) {
  int& was = standing_[s].adopted;
  if (is == was) return;
  // What is adopted again later is another adoption, also where a suspect's was replaced meanwhile.
  const std::string now = is > 0 ? std::to_string(digest_of(world_.configuration(is))) : "";
  for (Snapshot* snapshot : {&last_, &acknowledged_}) {
    const auto known = snapshot->adopted.find(process_->key_text(s));
    if (known == snapshot->adopted.end()) continue;
    if (was > 0 || (is > 0 && known->second != now)) snapshot->adopted.erase(known);
  }
  if (was > 0 && is >= 0 && !excused_) promises_.taken_back_for_a_reason(*process_, s, was, is);
  was = is;
}

// What was measured otherwise since is another measurement if it is measured so again.
void Simulation::note_measured(int c) {
  for (int s = 0; s < world_.shapes(); ++s) {
    const auto known = acknowledged_.measured.find(process_->trial_text(c, s));
    if (known != acknowledged_.measured.end() && known->second != process_->measured(c, s))
      acknowledged_.measured.erase(known);
  }
}

void Simulation::note_unrun() {
  if (flying_ || !process_->worker_rests()) return;  // what is on record waits for its turn
  for (int s = 0; s < world_.shapes() && alive(); ++s) {
    const int recorded = process_->recorded_at(s);
    const bool may = recorded > 0 && process_->adopted_at(s) == 0 && device_->usable().ok() &&
                     !process_->is_suspect(recorded) && !process_->is_barred(recorded) &&
                     !process_->is_wrong(recorded, s);
    int& looks = standing_[s].unrun;
    looks = may ? looks + 1 : 0;
    promises_.records_are_run(*process_, recorded, s, looks);
    promises_.told(told_->of_shape(*process_, s, recorded), recorded, s);
    const bool too_many =
        process_->evaluated_at(s) >= world_.count();  // the default is none of them
    promises_.told(too_many ? "evaluated-more-than-there-are" : "", 0, s);
  }
}

// `everywhere`: also where nothing was to be tuned.
void Simulation::looked(bool everywhere) {
  note_open();
  note_adopted();
  note_unrun();
  excused_ = false;
  told_failed_.clear();
  if (process_->worker_rests()) {
    built_.clear();
    reference_.was_seen(disk_->operations.size());
  }
  if (everywhere) life_bill_.raced += std::exchange(raced_since_look_, 0);
  if (!process_->in_debt()) raced_in_debt_.clear();
  if (everywhere && process_->worker_rests()) looked_at_ = called_at_;
  for (auto& [pair, launched] : launched_) launched.looked = true;
  for (auto& [s, running] : running_) {
    const bool ran = running.launches >= 8;
    running.looks += ran ? 1 : 0;
    running.watched += ran && process_->has_slot(s) && process_->worker_rests() ? 1 : 0;
    running.launches = 0;
    if (world_.profiling && !bill_.slowed && !bill_.untimed)
      promises_.what_loses_is_noticed(running.configuration, s, running.watched);
  }
  for (int c = 1; c < world_.count() && alive(); ++c)
    promises_.told(told_->of_quarantine(c, process_->is_quarantined(c)), c, 0);
  if (alive()) promises_.refuted_classes_end(process_->classes_fail());
}

}  // namespace idletune::lives
