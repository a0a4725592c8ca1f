#include "tests/lives/reference.hpp"

#include <algorithm>
#include <iterator>

namespace idletune::lives {

const char* name_of(Death death) {
  static const char* const names[] = {"none", "clean-end", "kill", "cut", "launch"};
  return names[static_cast<int>(death)];
}

bool synced_between(const test::Disk& disk, std::size_t from, std::size_t until, int times) {
  for (std::size_t i = from; i < until && i < disk.operations.size(); ++i) {
    const test::DiskOperation& operation = disk.operations[i];
    const bool syncs = operation.kind == test::DiskOperation::Kind::sync_file;
    if (syncs && disk.below.count(operation.inode) == 0 && --times == 0) return true;
  }
  return false;
}

void Known::new_life() {
  ambiguous = last_stage = closed = Fact();
  ambiguous_shape = -1;
  outcome = started = built = ran = raced = adopted = blamed = open = false;
  right_now.clear();
  unprepared.clear();
  kills = 0;
}

void Known::timed(int s, bool slow, Fact now) {
  if (slow) {
    timed_slow.insert(s);
  } else if (timed_slow.erase(s) > 0) {
    timed_anew[s] = now;
  }
}

void Known::timed_in_vain(int s) {
  if (timed_anew.erase(s) > 0) timed_slow.insert(s);
}

Reference::Reference(const World& world) : world_(world) {
  known_.assign(World::kDrivers, std::vector<Known>(static_cast<std::size_t>(world.count())));
}

void Reference::new_life(int driver) {
  forget_unconfirmed();
  lost_with_.clear();
  ++life_;
  driver_ = driver;
  classes_ = Classes();
  for (auto& configurations : known_)
    for (Known& known : configurations) known.new_life();
}

Known& Reference::of(int c) {
  return known_[static_cast<std::size_t>(driver_)][static_cast<std::size_t>(c)];
}

int Reference::deaths_elsewhere(int c) const {
  for (int driver = 0; driver < World::kDrivers; ++driver) {
    const Known& known = known_[static_cast<std::size_t>(driver)][static_cast<std::size_t>(c)];
    const bool other = driver != driver_ && World::package_of(driver) == World::package_of(driver_);
    if (other && (known.ever_bitten || known.deaths + known.kills >= 2)) return 1;
  }
  return 0;
}

void Reference::stage_began(const TrialRequest& request, std::size_t operation) {
  const int c = world_.index_of(request.configuration);
  if (c <= 0) return;
  Known& known = of(c);
  known.started = true;
  known.ran = known.ran || runs_configuration(request.stage);
  known.last_stage = {life_, operation};
}

void Reference::helper_was_killed(Known& known, int s, bool ran, bool by_candidate, Fact now) {
  known.blamed = true;
  ++known.kills;
  if (!ran || !by_candidate) return;
  known.ambiguous = now;
  known.ambiguous_shape = s;
}

// In each new helper the reference ran first. Where it failed, nobody is to blame for what happened
// since it ran well.
void Reference::helper_told(const TrialOutcome& outcome, std::size_t operation) {
  if (outcome.reference == ReferenceRun::none) return;
  if (outcome.reference == ReferenceRun::failed) {
    forget_unconfirmed();
    for (const int c : lost_with_)  // a second death counts
      if (of(c).deaths + of(c).kills + deaths_elsewhere(c) == 1) --of(c).kills;
  }
  for (const int c : unconfirmed_) of(c).bitten = {life_, operation};
  unconfirmed_.clear();
  lost_with_.clear();
}

void Reference::died_of_the_device(int c, bool in_the_reference) {
  of(c).blamed = true;
  if (in_the_reference) return;
  ++of(c).kills;
  lost_with_.push_back(c);
}

void Reference::forget_unconfirmed() {
  for (const int c : unconfirmed_) of(c).bitten = Fact();
  unconfirmed_.clear();
}

void Reference::stage_ended(const TrialRequest& request, const TrialOutcome& outcome, Role role,
                            std::size_t operation, bool remembered) {
  const int c = world_.index_of(request.configuration), s = world_.index_of(request.shape);
  if (c <= 0) return;
  Known& known = of(c);
  const Fact now{life_, operation};
  known.last_stage = now;
  const bool ran = runs_configuration(outcome.stage);
  if (outcome.status == TrialStatus::crash && outcome.ambiguous) {
    return helper_was_killed(known, s, ran, remembered && role == Role::candidate, now);
  }
  if (outcome.stage == TrialStage::prepare) {
    if (outcome.status != TrialStatus::correct && role == Role::candidate)
      known.unprepared.insert(s);
    return;
  }
  if (ran || outcome.status != TrialStatus::correct) known.outcome = true;
  if (ran) known.unprepared.erase(s);
  if (ran && known.ambiguous_shape == s) known.ambiguous = Fact();  // tried again, and ended
  if (outcome.status == TrialStatus::crash || outcome.status == TrialStatus::timeout) {
    known.ever_bitten = true;
    if (known.bitten.there()) return;
    known.bitten = now;
    unconfirmed_.push_back(c);
    known.bitten_as = name_of(role);
    known.bitten_shape = s;
  } else if (outcome.stage != TrialStage::check) {
    return;
  } else if (outcome.status == TrialStatus::correctness) {
    if (known.wrong.emplace(s, now).second) known.wrong_as = name_of(role);
    classes_.failed(c, world_.class_of(c, s));
  } else if (outcome.status == TrialStatus::correct) {
    known.right[s][request.captured_digest].insert(request.seed);
    known.right_now.insert(s);
  }
}

void Reference::call_failed(int c, int s, TrialStatus status, std::size_t operation) {
  Known& known = of(c);
  known.outcome = true;
  if (status == TrialStatus::correctness) {
    known.wrong.emplace(s, Fact{life_, operation});
    known.wrong_as = "call";
  } else if (status == TrialStatus::timeout && !known.bitten.there()) {
    known.ever_bitten = true;
    known.bitten = {life_, operation};
    known.bitten_as = "call";
    known.bitten_shape = s;
  }
}

void Reference::forget_unsynced(const Ending& ending, const test::Disk& disk) {
  const auto kept = [&](const Fact& fact) {
    if (!fact.there() || fact.life != life_) return true;
    if (ending.death == Death::clean) return ending.storage_ok;
    if (!ending.storage_ok || ending.faults) return false;
    return synced_between(disk, fact.operation, ending.operations, world_.syncs());
  };
  for (auto& configurations : known_)
    for (Known& known : configurations) {
      if (!kept(known.bitten)) known.bitten = Fact();
      for (auto i = known.wrong.begin(); i != known.wrong.end();)
        i = kept(i->second) ? std::next(i) : known.wrong.erase(i);
      if (!kept(known.ambiguous)) known.ambiguous = Fact();
      for (const auto& [s, fact] : known.timed_anew)
        if (!kept(fact)) known.timed_slow.insert(s);
    }
}

// Whether it was or may have been in somebody's hands when the life ended.
bool Reference::exposed(int c, const Ending& ending, const test::Disk& disk) const {
  const Known& known = of(c);
  const bool flies = ending.flying && world_.index_of(ending.flying->configuration) == c;
  const bool racing = ending.racing.count(c) > 0;
  if (ending.between.count(c)) return true;
  if (ending.death == Death::none || ending.death == Death::clean) return false;
  if (ending.traced) return flies || racing;
  const auto unsynced = [&](const Fact& fact) {
    return fact.there() && !synced_between(disk, fact.operation, ending.operations, 2);
  };
  return flies || racing || ending.faults || unsynced(known.last_stage) || unsynced(known.closed);
}

void Reference::was_seen(std::size_t operation) {
  for (auto& configurations : known_)
    for (Known& known : configurations)
      if (known.bitten.operation == Fact::kUnseen) known.bitten.operation = operation;
}

void Reference::are_open(const std::set<int>& open, std::size_t operation) {
  for (int c = 1; c < world_.count(); ++c) {
    Known& known = of(c);
    const bool was = known.open;
    known.open = open.count(c) > 0;
    if (was && !known.open) known.closed = {life_, operation};
  }
}

Verdicts Reference::judge(const Ending& ending, const test::Disk& disk) {
  Verdicts verdicts;
  for (int c = 1; c < world_.count(); ++c) {
    Known& known = of(c);
    const bool flies = ending.flying && world_.index_of(ending.flying->configuration) == c;
    const bool under_way = exposed(c, ending, disk) || ending.candidate == c;
    const bool reliable = ending.storage_ok && !ending.faults;
    const bool bitten = known.bitten.there();
    // Its stage had ended, and only the end asks how.
    const bool seen_at_end = ending.death == Death::clean && bitten && known.bitten.life == life_;
    if (under_way || seen_at_end || known.ambiguous.there() || known.blamed ||
        ending.built.count(c) || ending.begun.count(c) ||
        (!ending.traced && ending.exposed.count(c))) {
      verdicts.may.insert(c);
    } else if (ending.faults && (known.started || known.built || known.raced)) {
      verdicts.stale.insert(c);
    }
    if (known.ambiguous.there() && ending.storage_ok) verdicts.must.insert(c);
    if (c == ending.fatal && ending.traced && reliable && !bitten) verdicts.must.insert(c);
    const bool died = ending.death == Death::kill || ending.death == Death::cut;
    if (flies && !bitten && runs_configuration(ending.flying->stage) && reliable && died &&
        ending.flying_role == Role::candidate) {
      verdicts.must.insert(c);
    }
    // An acquittal that the storage lost is none.
    const bool lost =
        known.acquitted.there() &&
        (ending.faults || !synced_between(disk, known.acquitted.operation, ending.operations, 2));
    const bool written = ending.death == Death::clean && ending.storage_ok;
    if (lost && known.acquitted.life == life_ && !written) {
      known.deaths += known.acquitted_of;
      verdicts.stale.insert(c);
    }
    // Without a page of this boot nobody knows who had begun.
    const bool unseen = ending.exposed.count(c) && !(ending.traced && ending.same_boot);
    const bool in_process = ending.built.count(c) + ending.begun.count(c) > 0;
    const bool died_too = under_way || unseen || in_process;
    if (verdicts.may.count(c)) known.deaths += std::max(1, known.kills + died_too);
    verdicts.deaths[c] = known.deaths + deaths_elsewhere(c);
    if (known.started) verdicts.started.insert(c);
    if (known.ever_bitten) verdicts.bitten.insert(c);
  }
  return verdicts;
}

}  // namespace idletune::lives
