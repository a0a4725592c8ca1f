// How lives begin and end, what is compared across an end, and the quiet end of all.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "tests/lives/draw.hpp"
#include "tests/lives/journals.hpp"
#include "tests/lives/simulation.hpp"

namespace idletune::lives {
namespace {

constexpr Nanoseconds kProven =
    std::chrono::milliseconds(10100);  // launches that went well, so far
constexpr int kMany = 12800;           // launches of a quiet turn, in the end

void append_log(void*, int level, const char* text) { std::printf("      [%d] %s\n", level, text); }

}  // namespace

void Simulation::begin_life() {
  reference_.new_life(next_driver_);
  death_ = Death::none;
  ending_ = Ending();
  plans_ = Plans();
  lost_ = lost_told_ = false;
  flying_.reset();
  flight_ends_ = Nanoseconds{0};  // the driver stops what a helper that is no more has begun
  built_.clear();
  launched_.clear();
  failures_.clear();
  told_failed_.clear();
  constants_ = queue_ = refused_orders_ = untimed_ = 0;
  prepared_.clear();
  running_.clear();
  standing_.clear();
  excused_ = false;
  life_bill_ = Bill();
  waited_in_flight_ = raced_since_look_ = 0;
  raced_in_debt_.clear();
  announced_in_vain_ = 0;
  life_bill_.slowed = bill_.slowed;
  life_bill_.noisy = bill_.noisy;
  has_acknowledged_before_ = std::exchange(has_acknowledged_, false);
  calling_ = "start";
  make_device();
  ProcessParts parts;
  parts.world = &world_;
  parts.options = world_.options;
  told_ = std::make_unique<Told>(world_);
  parts.options.events = told_->sink();
  if (print_) {
    parts.options.log_level = 2;
    parts.options.log = append_log;
  }
  parts.time = time_;
  parts.package = world_.packages[World::package_of(reference_.driver())];
  parts.device = device_;
  parts.disk = disk_;
  parts.boot = boot_;
  parts.page = &page_;
  parts.quirk = next_quirk_;
  parts.in_place = in_place_;
  parts.model = model_;
  parts.make_runner = [this] { return make_runner(); };
  parts.files = &lent_;
  parts.gpu_load = [this] { return busy_ ? 0.95 : 0.1; };
  process_ = std::make_unique<Process>(parts);
  process_->start();
  if (world_.solves) solving_.begin_life(World::version_of(reference_.driver()), process_->notes());
  told_->begin(*process_);
  check_models();
  if (process_->storage_ok() || page_.empty()) told_again_.clear();
  last_ = process_->snapshot();
  // What a storage or a power cut has lost was paid all the same.
  bill_.forgiven += std::max(0.0, charged_last_ - last_.charged);
  charged_last_ = last_.charged;
  before_ = last_;
  last_operations_ = disk_->operations.size();
}

// The process ends here; what it does from now on is a ghost's, and nobody listens.
void Simulation::die(Death death) {
  if (!alive()) return;
  note_open();
  dying_ = process_->snapshot();
  promises_.suspicion_is_kept(last_, dying_, disk_->operations.size());
  if (synced_between(*disk_, last_operations_, disk_->operations.size(), world_.syncs())) {
    acknowledged_ = last_;
    has_acknowledged_ = true;
  }
  death_ = death;
  ending_.death = death;
  ending_.flying = flying_;
  ending_.built = built_;
  ending_.storage_ok = ending_.storage_ok && process_->storage_ok();
  ending_.racing = process_->racing();
  if (death != Death::clean) ending_.exposed = process_->announced();
  for (const auto& [pair, launched] : launched_)
    if (launched.last + kProven >= looked_at_) ending_.begun.insert(pair.first);
  for (int c = 1; c < world_.count(); ++c)
    if (reference_.of(c).outcome) ending_.survived.insert(c);
  ending_.begun.insert(told_again_.begin(), told_again_.end());
  left_page_ = page_;
  ending_.operations = disk_->operations.size();
  if (flying_) {
    const int s = world_.index_of(flying_->shape);
    ending_.flying_role = process_->role(world_.index_of(flying_->configuration), s);
    ending_.candidate = process_->candidate_at(s);
    in_vain(s);
  }
  files_ = disk_->files();
  if (death == Death::cut)  // which may keep an announcement, and not what withdrew it
    for (const Configuration& each : announced_at_end_of(files_, unsynced_bytes()))
      ending_.between.insert(world_.index_of(each));
  if (!process_->worker_rests())  // what the last look withdrew waits for what was being written
    for (const journal::Dangers::OpenTrial& open : open_trials_in(files_))
      ending_.between.insert(world_.index_of(open.trial.configuration));
  if (world_.solves) solving_.died(death == Death::clean, ending_.faults || !ending_.storage_ok);
  if (death == Death::clean) return;
  forgive_uncharged();
  disk_->fault = {0, UINT64_MAX, StatusCode::internal, false};  // nothing happens any more
}

// Nobody was left to charge it, or no storage to keep that.
void Simulation::forgive_uncharged() {
  const double lost = life_bill_.waited + waited_in_flight_ + life_bill_.raced + raced_since_look_;
  bill_.forgiven += std::max(0.0, lost - (charged_last_ - before_.charged));
}

void Simulation::end_process(bool in_order) {
  if (alive()) death_ = Death::kill;
  if (!in_order) disk_->fault = {0, UINT64_MAX, StatusCode::internal, false};
  time_->drain();
  solving_.end_process();
  process_.reset();
  time_->drain();
}

test::Files Simulation::medium_after_cut(std::uint64_t draw) const {
  test::PowerCutter cutter(*disk_);
  while (cutter.position() < ending_.operations) cutter.advance();
  Random random(draw);
  return cutter.image(test::kAllCuts[draw % 4], random);
}

// Of the journal's end; nothing: what was written last is on the medium.
std::size_t Simulation::unsynced_bytes() const {
  using What = test::DiskOperation::Kind;
  std::size_t unsynced = 0;
  for (std::size_t i = disk_->operations.size(); i-- > 0;) {
    const test::DiskOperation& operation = disk_->operations[i];
    if (disk_->below.count(operation.inode) != 0) continue;  // not the journal's
    if (operation.kind == What::sync_file) break;
    if (operation.kind == What::write) unsynced += operation.data.size();
    if (operation.kind == What::rename && operation.target == "journal") break;  // synced before
  }
  return unsynced;
}

// Whether a record of what is about to run is on the medium.
bool Simulation::announced_on_medium(int c, int s) const {
  return unsynced_bytes() == 0 || process_->announced_in(journal_on_medium(), c, s);
}

Bytes Simulation::journal_on_medium() const {
  const auto entry = disk_->folder.find("journal");
  if (entry == disk_->folder.end()) return {};
  const test::Content& file = disk_->inodes.at(entry->second);
  return {file.data(), file.size() - std::min(unsynced_bytes(), file.size())};
}

void Simulation::next_life() {
  const std::uint64_t draw =
      mix(world_.seed, 60, static_cast<std::uint64_t>(reference_.life()), report_.event);
  const bool clean = death_ == Death::clean;
  end_process(clean);
  if (clean) {
    const bool failed = disk_->changes > disk_->fault.first;
    ending_.storage_ok = ending_.storage_ok && !failed;
    if (!ending_.storage_ok) forgive_uncharged();
    ending_.operations = disk_->operations.size();
    files_ = disk_->files();
  } else if (ending_.death == Death::cut) {
    files_ = medium_after_cut(draw);
    lent_.power_cut(draw);
  }
  const std::uint64_t boot_before = boot_;
  const bool cut = ending_.death == Death::cut;
  if (!clean) page_ = left_page_;
  const bool reboots = cut || (ending_.death == Death::kill && draw / 8 % 4 == 0);
  if (reboots) {
    boot_ = 2 + static_cast<std::uint64_t>(reference_.life());
    page_.clear();
  }
  ending_.traced = !page_.empty();
  if (!clean && draw / 64 % 10 == 0) boot_ = 0;
  ending_.same_boot = boot_ == boot_before || boot_ == 0 || boot_before == 0;
  reference_.forget_unsynced(ending_, *disk_);
  const Verdicts verdicts = reference_.judge(ending_, *disk_);
  const Ending ending = ending_;
  for (const int c : verdicts.may) {
    if (dying_.suspect.count(c)) continue;
    Known& known = reference_.of(c);
    // Where an acquittal or a quarantine is lost, the suspicion is what it was.
    const bool lost = verdicts.stale.count(c) > 0 || dying_.quarantined.count(c) > 0;
    known.cut = !ending.same_boot || (lost && known.cut);
  }
  if (print_) tell_end(ending, verdicts, files_);
  const bool same_driver = next_driver_ == reference_.driver();
  told_again_ = ending.begun;
  // It may have been acquitted and be under suspicion again, which nobody has said to be kept.
  for (const int c : dying_.suspect)
    if (reference_.of(c).outcome) acknowledged_.suspect.erase(c);
  // Else the page cache outlives the process; what it holds after a failed sync nobody knows.
  if (clean || reboots || ending_.faults) make_disk(files_);
  disk_->fault = {};
  begin_life();
  if (alive()) check_start(ending, verdicts, same_driver);
  flushed_.reset();
  if (!alive()) next_life();
}

// What the journal makes of the end.
void Simulation::check_start(const Ending& ending, const Verdicts& verdicts, bool same_driver) {
  const Snapshot now = process_->snapshot();
  if (same_driver) promises_.suspicion_is_just(ending, verdicts, dying_, now);
  for (const int c : dying_.suspect)  // by the last launches before a clean end
    if (same_driver && !now.suspect.count(c)) reference_.of(c).app_deaths.clear();
  for (const int c : verdicts.stale)
    if (now.suspect.count(c)) reference_.of(c).deaths = std::max(1, reference_.of(c).deaths);
  const bool reliable = ending.storage_ok && !ending.faults;
  if (ending.death == Death::clean) acknowledged_.measured = dying_.measured;
  if (world_.solves) solving_.check_start(reliable);
  if (has_acknowledged_before_ && reliable)
    promises_.nothing_is_lost(ending, acknowledged_, dying_, now, same_driver);
  if (flushed_ && reliable) promises_.flushed_is_kept(ending, *flushed_, now);
  if (ending.death == Death::clean && reliable) promises_.flushed_is_kept(ending, dying_, now);
}

void Simulation::tell_end(const Ending& ending, const Verdicts& verdicts,
                          const test::Files& files) const {
  const int driver = reference_.driver();
  std::printf("  -- life %d ends: %s; boot %s\n", reference_.life(), name_of(ending.death),
              ending.same_boot ? "the same or unknown" : "another");
  const auto list = [&](const char* what, const std::set<int>& of) {
    if (of.empty()) return;
    std::printf("     %s:", what);
    for (const int c : of) std::printf(" %s", world_.text(driver, c).c_str());
    std::printf("\n");
  };
  list("racing", ending.racing);
  list("may be accused", verdicts.may);
  list("must be", verdicts.must);
  list("announced", ending.exposed);
  list("begun in launches", ending.begun);
  list("suspects before", dying_.suspect);
  list("being built", ending.built);
  if (ending.flying) {
    std::printf("     in flight: %s at %lld, stage %d\n",
                world_.text(driver, world_.index_of(ending.flying->configuration)).c_str(),
                static_cast<long long>(ending.flying->shape[0]),
                static_cast<int>(ending.flying->stage));
  }
  for (const journal::Dangers::OpenTrial& open : open_trials_in(files)) {
    std::printf("     open: %s at %lld, %s, %s\n",
                world_.text(driver, world_.index_of(open.trial.configuration)).c_str(),
                static_cast<long long>(open.trial.shape[0]),
                open.place == journal::Where::helper ? "helper" : "in process",
                open.stage == journal::IntentStage::run ? "run" : "compile");
  }
}

// Between two events.
// What a storage refused is on no medium, and not tried.
void Simulation::check_models() {
  if (!world_.slots || ending_.faults || !process_->storage_ok()) return;
  const Models now = process_->models();
  promises_.one_model(told_models_.wrong(now), now.used);
}

void Simulation::check_standing() {
  check_models();
  const std::size_t operations = disk_->operations.size();
  if (operations != last_operations_ || ending_.faults) {
    const Snapshot now = process_->snapshot();
    if (synced_between(*disk_, last_operations_, operations, world_.syncs())) {
      acknowledged_ = last_;
      has_acknowledged_ = true;
    }
    promises_.suspicion_is_kept(last_, now, operations);
    last_ = now;
    last_operations_ = operations;
  }
  if (!flying_ && process_->worker_rests())
    promises_.nothing_rests_announced(process_->announced_in_helper());
  if (lost_told_) promises_.lost_device_rests(false, process_->device_is_lost());
  // What passed both checks counts for its class; noted when its step ended.
  process_->for_each_passed([this](int c, int s) {
    if (reference_.of(c).right_now.count(s)) reference_.classes().passed(c, world_.class_of(c, s));
  });
  const Snapshot account = process_->account();
  promises_.account_is_true(bill_, life_bill_, account, before_);
  charged_last_ = account.charged;
}

// --- the end: does the best run, and who paid? ---

void Simulation::end_quietly() {
  promises_.no_slower(bill_);
  report_.without_bills = true;
  speed_ = 1;
  busy_ = false;
  plans_ = Plans();
  untimed_ = 0;
  plans_.memory_short = static_cast<int>(mix(world_.seed, 61) % 4);
  disk_->fault.first = UINT64_MAX;
  std::string lost;
  bool ended = false;
  // Each may end with three faults; where trials run in the process, with one.
  const int starts = std::max(12, world_.isolated ? 0 : world_.count());
  for (int round = 0; round < starts; ++round) {
    // What lost in launches comes back after ever more of them.
    const bool best = quiet_round(lost, ended, round < 5 ? 400 << round : kMany);
    if (round == 0) try_what_was_put_aside();
    if (best) break;
    if (alive()) check_standing();
    if (alive()) die(Death::clean);
    next_life();
  }
  if (lost.empty() && alive()) return check_slots();
  if (lost.empty()) return;
  const std::size_t bar = lost.find('|');
  report_.say(std::string("I7:") + (world_.friendly ? "friendly-board-" : "") +
                  (ended ? "tuning-ended-" : "") + lost.substr(0, bar),
              lost.substr(bar + 1));
}

// True if the best runs everywhere.
bool Simulation::quiet_round(std::string& lost, bool& ended, int launches) {
  const int turns = world_.setups ? 12 : 4;  // a setup waits until it has been earned
  const int kept = kept_shapes();
  for (int turn = 0; turn < turns && alive();) {
    for (int s = 0; s < kept && alive(); ++s) quiet_turn(s, launches);
    lost.clear();
    for (int s = 0; s < kept && alive(); ++s) {
      const std::string found = promises_.best_runs(*process_, s, bill_.noisy);
      if (found.empty()) continue;
      lost = found;
      ended = !process_->tuning_goes_on();
    }
    if (alive() && lost.empty()) return true;
    if (ended) return false;
    // What has a setup waits until the account bears it again.
    const bool earns = world_.setups && launches >= kMany && alive() && process_->in_debt();
    if (!earns || turns_to_earn_-- <= 0) ++turn;
  }
  return false;
}

void Simulation::try_what_was_put_aside() {
  const auto left = [this] {
    const bool goes_on = alive() && process_->tuning_goes_on();
    return goes_on ? promises_.put_aside(*process_, kept_shapes()) : std::string();
  };
  // What was charged before may have to be earned by many launches first.
  for (int i = 0; i < 8 && !left().empty(); ++i)
    for (int s = 0; s < kept_shapes() && alive(); ++s) quiet_turn(s, 400 << i);
  if (const std::string which = left(); !which.empty()) report_.say("I7:put-aside-for-good", which);
}

int Simulation::kept_shapes() const {
  return std::min(3, static_cast<int>(world_.options.max_shapes));
}

void Simulation::quiet_turn(int s, int launches) {
  constexpr int kGaps = 20;
  launch(s, 400);
  (void)process_->tune(std::chrono::hours(10));
  looked();
  for (int i = 0; i < kGaps && alive(); ++i) {
    launch(s, std::max(3, (launches - 400) / kGaps));
    (void)process_->tune(std::chrono::milliseconds(60));
    looked();
  }
  time_->pass(std::chrono::seconds(3));
}

// A shape that keeps being launched gets a slot where one is held for nothing.
void Simulation::check_slots() {
  for (int s = 0; s < world_.shapes(); ++s) {
    launch(s, 1);
    // Rounds during a build do not count: it uses the device, for as long as a warm-up hangs.
    int rounds = 0;
    for (int i = 0; i < 100 && rounds < 12 && alive() && !process_->has_slot(s); ++i) {
      rounds += process_->worker_rests();
      launch(s, 2);
      (void)process_->tune(std::chrono::milliseconds(200));
      time_->pass(std::chrono::seconds(2));
    }
    if (!alive() || process_->has_slot(s)) continue;
    if (!process_->tuning_goes_on()) return;  // a run that never ends uses the device
    const std::string why = process_->idle_slots();
    if (!why.empty())
      report_.say("I7:no-slot" + why, std::to_string(world_.sizes[static_cast<std::size_t>(s)]));
    return;
  }
}

}  // namespace idletune::lives
