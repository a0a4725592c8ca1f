#include "tests/unit/journal/tuning_scenario.hpp"

#include <algorithm>
#include <string>

#include "models/core/digest.hpp"
#include "tests/unit/journal/losses.hpp"

namespace idletune::journal {

bool facts_hold(const Promises& promises, std::size_t position, const State& state) {
  return std::all_of(promises.facts.begin(), promises.facts.end(), [&](const Fact& fact) {
    return position < fact.from || position > fact.until || fact.holds(state);
  });
}

Trial trial_of(std::int64_t kernel, std::int64_t shape, std::int64_t configuration) {
  Trial trial;
  trial.kernel = digest_of("kernel") + static_cast<std::uint64_t>(kernel);
  trial.device = 7;
  trial.driver = 70;
  trial.shape = Shape{shape, shape + 1, 3};
  trial.configuration = Configuration{configuration, 16, 32, -1, configuration * 1000};
  return trial;
}

Scenario::Scenario(std::shared_ptr<Disk> disk, std::uint64_t seed, bool with_kills, bool deferred)
    : disk_(std::move(disk)), random_(seed), with_kills_(with_kills), deferred_(deferred) {
  open();
}

void Scenario::run(int steps) {
  for (int i = 0; i < steps; ++i) step();
}

void Scenario::open() {
  JournalOptions options;
  options.boot = boot_;
  options.note_interval = std::chrono::seconds(2);
  journal_.reset();
  journal_ = Journal::open(test::open_faulty_storage(disk_), options);
  open_.clear();
  exposed_.clear();
  if (journal_->storage_status().ok()) acknowledge();
  if (deferred_) journal_->outbox().defer();
}

void Scenario::acknowledge(std::size_t count) {
  promises_.acknowledged.push_back(position());
  count = std::min(count, pending_.size());
  for (std::size_t i = 0; i < count; ++i) {
    pending_[i].from = position();
    promises_.facts.push_back(std::move(pending_[i]));
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
}

// What syncs by itself.
void Scenario::acknowledge_if(bool durable) {
  if (durable && !deferred_) acknowledge();
}

void Scenario::write() {
  std::unique_ptr<JournalWrite> taken = journal_->outbox().take();
  if (taken == nullptr) return;
  const std::size_t promised = pending_.size();
  const std::uint64_t syncs = journal_->outbox().file_syncs();
  measure(any_trial());
  taken->run();
  measure(any_trial());
  journal_->outbox().written(std::move(taken));
  if (journal_->outbox().file_syncs() > syncs && journal_->storage_status().ok())
    acknowledge(promised);
}

Trial Scenario::any_trial() {
  return trial_of(static_cast<std::int64_t>(random_.below(2)),
                  static_cast<std::int64_t>(random_.below(3)),
                  static_cast<std::int64_t>(random_.below(8)));
}

void Scenario::step() {
  now_ += std::chrono::milliseconds(700);
  ++serial_;
  if (deferred_ && random_.below(2) == 0) write();
  switch (random_.below(20)) {
    case 0:
    case 1:
    case 2: return begin_trial();
    case 3:
    case 4:
    case 5: return end_trial();
    case 6: return measure(any_trial());
    case 7: return adopt();
    case 8: return quarantine();
    case 9: return note();
    case 10: return name();
    case 11:
      if (journal_->sync().ok()) acknowledge();
      return;
    case 12: return compact();
    case 13: return park();
    case 14: return with_kills_ ? kill() : note();
    case 15: return expose();
    case 16: return end_exposure();
    case 17: return suspect();
    case 18: return wrong();
    default: return restart();
  }
}

void Scenario::begin_trial() {
  Intent intent;
  intent.trial = any_trial();
  if (journal_->state().dangers().is_quarantined(intent.trial)) return;
  intent.isolated = random_.below(4) != 0;
  intent.stage = random_.below(2) == 0 ? IntentStage::compile : IntentStage::run;
  const TrialKey key = intent.trial.key();
  const std::uint64_t syncs = journal_->outbox().file_syncs();
  const bool durable =
      journal_->durable(journal_->intent(intent)) && journal_->storage_status().ok();
  open_.push_back(intent.trial);
  if (!durable) return;
  acknowledge_if(journal_->outbox().file_syncs() > syncs);  // an open trial was announced already
  Fact fact;
  fact.from = position();
  fact.holds = [key](const State& state) {
    return state.dangers().is_suspect(key) || state.dangers().is_quarantined(key) ||
           state.dangers().open_trial(key) != nullptr;
  };
  open_facts_.push_back({key, promises_.facts.size()});
  promises_.facts.push_back(std::move(fact));
}

void Scenario::release(const TrialKey& key) {
  for (const auto& [open_key, fact] : open_facts_) {
    if (open_key == key && promises_.facts[fact].until == SIZE_MAX) {
      promises_.facts[fact].until = position();
    }
  }
  open_.erase(std::remove_if(open_.begin(), open_.end(),
                             [&](const Trial& trial) { return trial.key() == key; }),
              open_.end());
}

void Scenario::release_all() {
  while (!open_facts_.empty()) {
    const TrialKey key = open_facts_.back().first;
    release(key);
    open_facts_.pop_back();
  }
  open_.clear();
  exposed_.clear();
}

void Scenario::end_trial() {
  if (open_.empty()) return;
  const Trial trial = open_[static_cast<std::size_t>(random_.below(open_.size()))];
  measure(trial);
  release(trial.key());
  acquit(trial);
  journal_->closed(trial, place_of(trial));
}

void Scenario::park() {
  if (open_.empty()) return;
  const Trial trial = open_[static_cast<std::size_t>(random_.below(open_.size()))];
  release(trial.key());
  if (random_.below(2) == 0) {
    journal_->parked(trial, place_of(trial));
  } else {
    journal_->withdrawn(trial, place_of(trial));
  }
}

void Scenario::measure(const Trial& trial) {
  Measurement measurement;
  measurement.trial = trial;
  measurement.status = static_cast<TrialStatus>(random_.below(kTrialStatusCount));
  measurement.median = nanoseconds(random_.below(1u << 20));
  measurement.minimum = measurement.median / 2;
  measurement.samples = 5;
  measurement.compile = nanoseconds(random_.below(1u << 30));
  measurement.unix_seconds = serial_;
  measurement.origin = static_cast<Origin>(random_.below(kOriginCount));
  journal_->measured(measurement);
  if (measurement.status == TrialStatus::correctness) {
    pending_.push_back(
        {0, SIZE_MAX, [trial](const State& state) { return state.dangers().is_wrong(trial); }});
  }
  const TrialKey key = trial.key();
  const std::int64_t serial = serial_;
  pending_.push_back({0, SIZE_MAX, [key, serial](const State& state) {
                        const auto found = state.measurement(key);
                        return found && found->unix_seconds >= serial;
                      }});
}

void Scenario::adopt() {
  const Trial trial = any_trial();
  const ShapeKey key = trial.shape_key();
  for (const auto& [adopted_key, fact] : adoption_facts_) {
    if (adopted_key == key)
      promises_.facts[fact].until = std::min(promises_.facts[fact].until, position());
  }
  if (random_.below(3) == 0) {
    Demotion demotion;
    demotion.key = key;
    demotion.configuration = trial.configuration;
    demotion.losses = static_cast<std::uint32_t>(serial_);
    journal_->demoted(demotion);
    pending_.push_back({0, SIZE_MAX, [trial, serial = serial_](const State& state) {
                          return losses_of(state, trial).value_or(0) >= serial;
                        }});
    acknowledge_if(journal_->storage_status().ok());
    return;
  }
  Adoption adoption;
  adoption.trial = trial;
  adoption.expected = nanoseconds(serial_);
  adoption.default_time = nanoseconds(2 * serial_);
  journal_->adopted(adoption);
  if (deferred_ || !journal_->storage_status().ok()) return;
  acknowledge();
  Fact fact;
  fact.from = position();
  fact.holds = [key, trial, expected = adoption.expected](const State& state) {
    const auto found = state.adoption(key);
    return (found && found->expected == expected) || state.dangers().is_quarantined(trial.key());
  };
  adoption_facts_.push_back({key, promises_.facts.size()});
  promises_.facts.push_back(std::move(fact));
}

void Scenario::quarantine() {
  const Trial trial = open_.empty() ? any_trial() : open_.back();
  const TrialKey key = trial.key();
  release(key);
  journal_->quarantine(trial, QuarantineReason::crash, "killed by signal 6 (SIGABRT)");
  pending_.push_back(
      {0, SIZE_MAX, [key](const State& state) { return state.dangers().is_quarantined(key); }});
  acknowledge_if(journal_->storage_status().ok());
}

void Scenario::expose() {
  const Trial trial = any_trial();
  if (journal_->state().dangers().is_quarantined(trial)) return;
  const Where place = random_.below(2) == 0 ? Where::here : Where::launches;
  const std::uint64_t syncs = journal_->outbox().file_syncs();
  if (!journal_->durable(journal_->exposed(trial, place))) return;
  exposed_.push_back({trial, place});
  if (!journal_->storage_status().ok()) return;
  acknowledge_if(journal_->outbox().file_syncs() > syncs);
  Fact fact;
  fact.from = position();
  fact.holds = [trial, place](const State& state) {
    return state.dangers().is_suspect(trial) || state.dangers().is_quarantined(trial) ||
           state.dangers().is_exposed(trial.key(), place);
  };
  open_facts_.push_back({trial.key(), promises_.facts.size()});
  promises_.facts.push_back(std::move(fact));
}

void Scenario::end_exposure() {
  if (exposed_.empty()) return;
  const auto [trial, place] = exposed_.back();
  exposed_.pop_back();
  release(trial.key());
  if (random_.below(2) == 0) return journal_->parked(trial, place);
  acquit(trial);
  journal_->closed(trial, place);
}

void Scenario::suspect() {
  const Trial trial = any_trial();
  release(trial.key());
  (void)journal_->accuse(judge({Open{trial}}, Ending::helper_killed, Witness::supervisor));
  if (deferred_ || !journal_->storage_status().ok()) return;
  acknowledge();
  suspect_facts_.push_back({trial, promises_.facts.size()});
  promises_.facts.push_back({position(), SIZE_MAX, [trial](const State& state) {
                               return state.dangers().is_suspect(trial) ||
                                      state.dangers().is_quarantined(trial);
                             }});
}

void Scenario::acquit(const Trial& trial) {
  for (const auto& [accused, fact] : suspect_facts_) {
    if (accused.kernel == trial.kernel && accused.configuration == trial.configuration) {
      promises_.facts[fact].until = std::min(promises_.facts[fact].until, position());
    }
  }
}

void Scenario::wrong() {
  const Trial trial = any_trial();
  journal_->wrong(trial, random_.below(3));
  pending_.push_back(
      {0, SIZE_MAX, [trial](const State& state) { return state.dangers().is_wrong(trial); }});
  acknowledge_if(journal_->storage_status().ok());
}

Where Scenario::place_of(const Trial& trial) const {
  const Dangers::OpenTrial* open = journal_->state().dangers().open_trial(trial.key());
  return open == nullptr ? Where::helper : open->place;
}

void Scenario::note() {
  Ledger ledger;
  ledger.charged = nanoseconds(serial_ * 10);
  ledger.kernel_time = nanoseconds(serial_ * 1000);
  ledger.savings = nanoseconds(serial_ - 5);
  journal_->note_ledger(ledger, now_);
  ShapeStatistics statistics;
  statistics.kernel = 1;
  statistics.shape = any_trial().shape;
  statistics.launches = static_cast<std::uint64_t>(serial_);
  statistics.active_seconds = 3;
  statistics.sessions = 1;
  journal_->note_shape(statistics, now_);
}

void Scenario::name() {
  const Name name{NameKind::kernel, random_.below(3), "kernel " + std::to_string(serial_)};
  journal_->named(name);
  pending_.push_back({0, SIZE_MAX, [digest = name.digest, serial = serial_](const State& state) {
                        const auto found = state.name(NameKind::kernel, digest);
                        return found && std::stoll(found->text.substr(7)) >= serial;
                      }});
}

void Scenario::compact() {
  if (journal_->compact().ok()) acknowledge();
}

void Scenario::restart() {
  release_all();
  const Ledger ledger = journal_->state().ledger();
  if (journal_->shutdown().ok()) acknowledge();
  if (journal_->storage_status().ok()) {
    Fact fact;
    fact.from = position();
    fact.holds = [ledger](const State& state) { return state.ledger().charged >= ledger.charged; };
    promises_.facts.push_back(std::move(fact));
  }
  if (with_kills_) open();
}

void Scenario::kill() {
  release_all();
  pending_.clear();
  if (random_.below(2) == 0) ++boot_;
  open();
}

std::unique_ptr<Journal> open_on(const std::shared_ptr<Disk>& disk, std::uint64_t boot) {
  JournalOptions options;
  options.boot = boot;
  return Journal::open(test::open_faulty_storage(disk), options);
}

Promises use_a_little(const std::shared_ptr<Disk>& disk, Journal& journal) {
  Promises promises;
  promises.acknowledged.push_back(disk->operations.size());
  Intent intent;
  intent.trial = trial_of(9, 9, 9);
  const TrialKey key = intent.trial.key();
  (void)journal.intent(intent);
  if (!journal.storage_status().ok()) return promises;
  promises.acknowledged.push_back(disk->operations.size());
  Measurement measurement;
  measurement.trial = intent.trial;
  measurement.median = nanoseconds(9);
  journal.measured(measurement);
  journal.closed(intent.trial, Where::helper);
  if (!journal.sync().ok()) return promises;
  promises.acknowledged.push_back(disk->operations.size());
  promises.facts.push_back({disk->operations.size(), SIZE_MAX, [key](const State& state) {
                              return state.measurement(key).has_value() &&
                                     !state.dangers().is_suspect(key);
                            }});
  journal.quarantine(trial_of(9, 9, 10), QuarantineReason::hang, "");
  promises.acknowledged.push_back(disk->operations.size());
  promises.facts.push_back({disk->operations.size(), SIZE_MAX, [](const State& state) {
                              return state.dangers().is_quarantined(trial_of(9, 9, 10).key());
                            }});
  return promises;
}

}  // namespace idletune::journal
