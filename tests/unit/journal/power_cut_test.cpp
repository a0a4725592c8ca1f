// The power is cut between any two operations of the storage, in four ways, twice in a row.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>

#include "agent/journal/journal.hpp"
#include "agent/journal/summary.hpp"
#include "models/core/digest.hpp"
#include "tests/unit/journal/faulty_storage.hpp"

namespace idletune::journal {
namespace {

using std::chrono::nanoseconds;
using test::Cut;
using test::Disk;
using test::DiskOperation;
using test::Files;
using test::PowerCutter;

// Something that must hold after a cut at a position in [from, until]: it was acknowledged at
// `from`, and at `until` the session began to change it.
struct Fact {
  std::size_t from = 0;
  std::size_t until = SIZE_MAX;
  std::function<bool(const State&)> holds;
};

// What a run on a disk was promised.
struct Promises {
  std::vector<std::size_t> acknowledged;  // positions at which everything before was on the medium
  std::vector<Fact> facts;
};

Trial trial_of(std::int64_t kernel, std::int64_t shape, std::int64_t configuration) {
  Trial trial;
  trial.kernel = digest_of("kernel") + static_cast<std::uint64_t>(kernel);
  trial.device = 7;
  trial.driver = 70;
  trial.shape = Shape{shape, shape + 1, 3};
  trial.configuration = Configuration{configuration, 16, 32, -1, configuration * 1000};
  return trial;
}

// A seeded application with kills, compactions and all kinds of records.
class Scenario {
 public:
  Scenario(std::shared_ptr<Disk> disk, std::uint64_t seed, bool with_kills)
      : disk_(std::move(disk)), random_(seed), with_kills_(with_kills) {
    open();
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
  }

  Journal& journal() { return *journal_; }
  Promises& promises() { return promises_; }

 private:
  std::size_t position() const { return disk_->operations.size(); }

  void open() {
    JournalOptions options;
    options.boot = boot_;
    options.note_interval = std::chrono::seconds(2);
    journal_.reset();
    journal_ = Journal::open(test::open_faulty_storage(disk_), options);
    open_.clear();
    if (journal_->storage_status().ok()) acknowledge();
  }

  // Turns what is pending into facts.
  void acknowledge() {
    promises_.acknowledged.push_back(position());
    for (Fact& fact : pending_) {
      fact.from = position();
      promises_.facts.push_back(std::move(fact));
    }
    pending_.clear();
  }
  void acknowledge_if(bool durable) {
    if (durable) acknowledge();
  }

  Trial any_trial() {
    return trial_of(static_cast<std::int64_t>(random_.below(2)),
                    static_cast<std::int64_t>(random_.below(3)),
                    static_cast<std::int64_t>(random_.below(8)));
  }

  void step() {
    now_ += std::chrono::milliseconds(700);
    ++serial_;
    switch (random_.below(16)) {
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
      case 10: return note();
      case 11: return acknowledge_if(journal_->sync().ok());
      case 12: return compact();
      case 13: return park();
      case 14: return with_kills_ ? kill() : note();
      default: return restart();
    }
  }

  void begin_trial() {
    Intent intent;
    intent.trial = any_trial();
    if (journal_->state().is_quarantined(intent.trial.key())) return;
    intent.isolated = random_.below(4) != 0;
    intent.stage = random_.below(2) == 0 ? IntentStage::compile : IntentStage::run;
    const TrialKey key = intent.trial.key();
    const bool durable = journal_->intent(intent);
    open_.push_back(intent.trial);
    if (!durable) return;
    acknowledge();
    Fact fact;
    fact.from = position();
    fact.holds = [key](const State& state) {
      return state.is_suspect(key) || state.is_quarantined(key) || state.open_trial(key) != nullptr;
    };
    open_facts_.push_back({key, promises_.facts.size()});
    promises_.facts.push_back(std::move(fact));
  }

  // The session lets go of an open trial: from here on a cut may or may not find it.
  void release(const TrialKey& key) {
    for (const auto& [open_key, fact] : open_facts_) {
      if (open_key == key && promises_.facts[fact].until == SIZE_MAX) {
        promises_.facts[fact].until = position();
      }
    }
    open_.erase(std::remove_if(open_.begin(), open_.end(),
                               [&](const Trial& trial) { return trial.key() == key; }),
                open_.end());
  }
  void release_all() {
    while (!open_facts_.empty()) {
      const TrialKey key = open_facts_.back().first;
      release(key);
      open_facts_.pop_back();
    }
    open_.clear();
  }

  void end_trial() {
    if (open_.empty()) return;
    const Trial trial = open_[static_cast<std::size_t>(random_.below(open_.size()))];
    measure(trial);
    release(trial.key());
    journal_->closed(trial.key());
  }

  void park() {
    if (open_.empty()) return;
    const TrialKey key = open_[static_cast<std::size_t>(random_.below(open_.size()))].key();
    release(key);
    journal_->parked(key);
  }

  void measure(const Trial& trial) {
    Measurement measurement;
    measurement.trial = trial;
    measurement.status = static_cast<TrialStatus>(random_.below(kTrialStatusCount));
    measurement.median = nanoseconds(random_.below(1u << 20));
    measurement.minimum = measurement.median / 2;
    measurement.samples = 5;
    measurement.compile = nanoseconds(random_.below(1u << 30));
    measurement.unix_seconds = serial_;
    journal_->measured(measurement);
    const TrialKey key = trial.key();
    const std::int64_t serial = serial_;
    pending_.push_back({0, SIZE_MAX, [key, serial](const State& state) {
                          const auto found = state.measurement(key);
                          return found && found->unix_seconds >= serial;
                        }});
  }

  void adopt() {
    const Trial trial = any_trial();
    const ShapeKey key = trial.shape_key();
    for (const auto& [adopted_key, fact] : adoption_facts_) {
      if (adopted_key == key)
        promises_.facts[fact].until = std::min(promises_.facts[fact].until, position());
    }
    if (random_.below(3) == 0) {
      journal_->demoted(key);
      acknowledge_if(journal_->storage_status().ok());
      return;
    }
    Adoption adoption;
    adoption.trial = trial;
    adoption.expected = nanoseconds(serial_);
    adoption.default_time = nanoseconds(2 * serial_);
    journal_->adopted(adoption);
    if (!journal_->storage_status().ok()) return;
    acknowledge();
    Fact fact;
    fact.from = position();
    fact.holds = [key, trial, expected = adoption.expected](const State& state) {
      const auto found = state.adoption(key);
      return (found && found->expected == expected) || state.is_quarantined(trial.key());
    };
    adoption_facts_.push_back({key, promises_.facts.size()});
    promises_.facts.push_back(std::move(fact));
  }

  void quarantine() {
    const Trial trial = open_.empty() ? any_trial() : open_.back();
    const TrialKey key = trial.key();
    release(key);
    journal_->quarantine(trial, QuarantineReason::crash, "killed by signal 6 (SIGABRT)");
    pending_.push_back(
        {0, SIZE_MAX, [key](const State& state) { return state.is_quarantined(key); }});
    acknowledge_if(journal_->storage_status().ok());
  }

  void note() {
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

  void compact() {
    if (journal_->compact().ok()) acknowledge();
  }

  void restart() {
    release_all();
    const Ledger ledger = journal_->state().ledger();
    acknowledge_if(journal_->shutdown().ok());
    if (journal_->storage_status().ok()) {
      Fact fact;
      fact.from = position();
      fact.holds = [ledger](const State& state) {
        return state.ledger().charged >= ledger.charged;
      };
      promises_.facts.push_back(std::move(fact));
    }
    if (with_kills_) open();
  }

  // The process dies, the page cache lives on. What was open is judged by the next opening.
  void kill() {
    release_all();
    pending_.clear();
    if (random_.below(2) == 0) ++boot_;
    open();
  }

  std::shared_ptr<Disk> disk_;
  Random random_;
  bool with_kills_;
  std::unique_ptr<Journal> journal_;
  Promises promises_;
  std::vector<Fact> pending_;
  std::vector<Trial> open_;
  std::vector<std::pair<TrialKey, std::size_t>> open_facts_;
  std::vector<std::pair<ShapeKey, std::size_t>> adoption_facts_;
  nanoseconds now_{0};
  std::int64_t serial_ = 0;
  std::uint64_t boot_ = 100;
};

std::uint64_t record_digest(const RecordView& record) {
  return Digest()
      .add(std::uint64_t{record.type})
      .add(std::uint64_t{record.version})
      .add(record.payload)
      .value();
}

// What a medium's journal says; a missing journal says nothing.
struct Found {
  std::uint64_t state = 0;
  std::vector<std::uint64_t> records;
  bool readable = true;
};

Found look_at(const Files& files) {
  Found found;
  const auto file = files.find(kJournalName);
  if (file == files.end()) {
    found.state = State().digest();
    return found;
  }
  const auto summary = read_journal(file->second);
  found.readable = summary.ok();
  if (!summary.ok()) return found;
  found.state = summary->state.digest();
  (void)for_each_record(file->second, [&](const RecordView& record) {
    found.records.push_back(record_digest(record));
  });
  return found;
}

// The states that the log went through as the operations of a disk were asked for, and all records
// that were ever written: made from the operations alone, without the Journal class.
class History {
 public:
  explicit History(const Disk& disk) : inodes_(disk.first_inodes), folder_(disk.first_folder) {
    collect(0);
    for (std::size_t i = 0; i < disk.operations.size(); ++i) {
      if (replay(disk.operations[i])) collect(i + 1);
    }
  }

  bool was_written(std::uint64_t record) const { return records_.count(record) != 0; }

  // Whether a medium may hold `state` after a cut at `position`, given what was acknowledged
  // before.
  bool allows(std::uint64_t state, std::size_t position, const Promises& promises) const {
    std::size_t acknowledged = 0;
    for (std::size_t at : promises.acknowledged) {
      if (at <= position) acknowledged = std::max(acknowledged, at);
    }
    std::size_t first = 0;
    while (first + 1 < states_.size() && states_[first + 1].position <= acknowledged) ++first;
    for (std::size_t i = first; i < states_.size() && states_[i].position <= position; ++i) {
      if (states_[i].digest == state) return true;
    }
    return false;
  }

 private:
  struct Moment {
    std::size_t position;
    std::uint64_t digest;
  };

  // True if it may have changed the log.
  bool replay(const DiskOperation& operation) {
    using Kind = DiskOperation::Kind;
    switch (operation.kind) {
      case Kind::write: {
        test::Content& content = inodes_[operation.inode];
        content.insert(content.end(), operation.data.begin(), operation.data.end());
        break;
      }
      case Kind::truncate: inodes_[operation.inode].resize(operation.size); break;
      case Kind::link: folder_[operation.name] = operation.inode; break;
      case Kind::rename:
        folder_[operation.target] = folder_.at(operation.name);
        folder_.erase(operation.name);
        break;
      case Kind::remove: folder_.erase(operation.name); break;
      default: return false;
    }
    return true;
  }

  void collect(std::size_t position) {
    Files files;
    const auto log = folder_.find(kJournalName);
    if (log != folder_.end()) files[kJournalName] = inodes_[log->second];
    const Found found = look_at(files);
    if (!found.readable) return;
    records_.insert(found.records.begin(), found.records.end());
    if (states_.empty() || states_.back().digest != found.state) {
      states_.push_back({position, found.state});
    }
  }

  std::map<int, test::Content> inodes_;
  std::map<std::string, int> folder_;
  std::vector<Moment> states_;
  std::set<std::uint64_t> records_;
};

bool all_written(const Found& found, const History& history) {
  return std::all_of(found.records.begin(), found.records.end(),
                     [&](std::uint64_t record) { return history.was_written(record); });
}

bool facts_hold(const Promises& promises, std::size_t position, const State& state) {
  return std::all_of(promises.facts.begin(), promises.facts.end(), [&](const Fact& fact) {
    return position < fact.from || position > fact.until || fact.holds(state);
  });
}

std::unique_ptr<Journal> open_on(const std::shared_ptr<Disk>& disk, std::uint64_t boot) {
  JournalOptions options;
  options.boot = boot;
  return Journal::open(test::open_faulty_storage(disk), options);
}

// A next session that records a little of its own.
Promises use_a_little(const std::shared_ptr<Disk>& disk, Journal& journal) {
  Promises promises;
  promises.acknowledged.push_back(disk->operations.size());
  Intent intent;
  intent.trial = trial_of(9, 9, 9);
  const TrialKey key = intent.trial.key();
  if (!journal.intent(intent)) return promises;
  promises.acknowledged.push_back(disk->operations.size());
  Measurement measurement;
  measurement.trial = intent.trial;
  measurement.median = nanoseconds(9);
  journal.measured(measurement);
  journal.closed(key);
  if (!journal.sync().ok()) return promises;
  promises.acknowledged.push_back(disk->operations.size());
  promises.facts.push_back({disk->operations.size(), SIZE_MAX, [key](const State& state) {
                              return state.measurement(key).has_value() && !state.is_suspect(key);
                            }});
  journal.quarantine(trial_of(9, 9, 10), QuarantineReason::hang, "");
  promises.acknowledged.push_back(disk->operations.size());
  promises.facts.push_back({disk->operations.size(), SIZE_MAX, [](const State& state) {
                              return state.is_quarantined(trial_of(9, 9, 10).key());
                            }});
  return promises;
}

struct Count {
  std::uint64_t first_cuts = 0;
  std::uint64_t second_cuts = 0;
};

// Cuts the power a second time, during the recovery from the first cut or a little later.
void cut_again(const Files& first_image, const Promises& first, std::size_t first_position,
               Random& random, Count& count) {
  const auto disk = std::make_shared<Disk>(first_image);
  {
    const auto journal = open_on(disk, 900);
    REQUIRE(journal->storage_status().ok());
    REQUIRE_FALSE(journal->recovery().set_aside);
    REQUIRE(facts_hold(first, first_position, journal->state()));
    const Promises second = use_a_little(disk, *journal);
    REQUIRE(second.facts.size() == 2);

    PowerCutter cutter(*disk);
    const auto position = static_cast<std::size_t>(random.below(disk->operations.size() + 1));
    while (cutter.position() < position) cutter.advance();
    const Files image = cutter.image(test::kAllCuts[random.below(4)], random);
    ++count.second_cuts;
    const History history(*disk);
    const Found found = look_at(image);
    REQUIRE(found.readable);
    REQUIRE(history.allows(found.state, position, second));
    REQUIRE(all_written(found, history));

    const auto next_disk = std::make_shared<Disk>(image);
    const auto next = open_on(next_disk, 901);
    REQUIRE(next->storage_status().ok());
    REQUIRE(facts_hold(first, first_position, next->state()));
    REQUIRE(facts_hold(second, position, next->state()));
    REQUIRE(next->shutdown().ok());
  }
}

void cut_everywhere(const Disk& disk, const Promises& promises, std::uint64_t seed, int repeats,
                    Count& count) {
  Random random(seed);
  const History history(disk);
  PowerCutter cutter(disk);
  for (;;) {
    for (Cut cut : test::kAllCuts) {
      for (int repeat = 0; repeat < repeats; ++repeat) {
        const Files image = cutter.image(cut, random);
        ++count.first_cuts;
        CAPTURE(seed);
        CAPTURE(cutter.position());
        CAPTURE(static_cast<int>(cut));
        const Found found = look_at(image);
        REQUIRE(found.readable);
        REQUIRE(history.allows(found.state, cutter.position(), promises));
        REQUIRE(all_written(found, history));
        cut_again(image, promises, cutter.position(), random, count);
      }
    }
    if (cutter.at_end()) return;
    cutter.advance();
  }
}

TEST_CASE("a power cut at any operation loses nothing acknowledged and invents nothing") {
  Count count;
  for (std::uint64_t seed = 1; count.first_cuts < 100000; ++seed) {
    const auto disk = std::make_shared<Disk>();
    Scenario scenario(disk, seed, true);
    scenario.run(60);
    cut_everywhere(*disk, scenario.promises(), seed, 3, count);
  }
  CHECK(count.second_cuts == count.first_cuts);
  std::printf("figure: journal: %llu power cuts, each followed by a second one, lost nothing\n",
              static_cast<unsigned long long>(count.first_cuts));
}

TEST_CASE("a cut finds the old or the new log while a journal grows past its limits by itself") {
  Count count;
  const auto disk = std::make_shared<Disk>();
  Promises promises;
  {
    JournalOptions options;
    options.boot = 5;
    options.max_file_bytes = 64u << 10;
    const auto journal = Journal::open(test::open_faulty_storage(disk), options);
    Adoption adoption;
    adoption.trial = trial_of(0, 0, 0);
    while (journal->folder_syncs() < 3) {  // the second compaction has happened
      adoption.expected += nanoseconds(1);
      for (std::size_t i = adoption.trial.configuration.size(); i < kMaxParameters; ++i) {
        adoption.trial.configuration.push_back(INT64_MAX);
      }
      journal->adopted(adoption);
      REQUIRE(journal->storage_status().ok());
      promises.acknowledged.push_back(disk->operations.size());
    }
    CHECK(journal->file_bytes() < 4096);
  }
  // Only around the compactions: the rest is as above.
  const History history(*disk);
  PowerCutter cutter(*disk);
  Random random(3);
  std::vector<std::size_t> interesting;
  for (std::size_t i = 0; i < disk->operations.size(); ++i) {
    if (disk->operations[i].kind == DiskOperation::Kind::rename) interesting.push_back(i);
  }
  REQUIRE(interesting.size() == 3);
  while (!cutter.at_end()) {
    cutter.advance();
    const bool near = std::any_of(interesting.begin(), interesting.end(), [&](std::size_t at) {
      return cutter.position() + 5 > at && cutter.position() < at + 5;
    });
    if (!near) continue;
    for (Cut cut : test::kAllCuts) {
      for (int repeat = 0; repeat < 8; ++repeat) {
        const Files image = cutter.image(cut, random);
        const Found found = look_at(image);
        REQUIRE(found.readable);
        REQUIRE(history.allows(found.state, cutter.position(), promises));
        REQUIRE(all_written(found, history));
        ++count.first_cuts;
      }
    }
  }
  CHECK(count.first_cuts > 500);
}

// The page cache outlives the process: what the next session finds may not be on the medium yet.
TEST_CASE(
    "a process killed inside any operation leaves a journal that survives the next power cut") {
  std::uint64_t kills = 0;
  Random random(17);
  for (std::uint64_t seed = 1000; seed < 1040; ++seed) {
    for (std::uint64_t first = 0;; ++first) {
      const auto disk = std::make_shared<Disk>();
      disk->fault = {first, UINT64_MAX, StatusCode::internal, random.below(2) == 0};
      Promises promises;
      {
        Scenario scenario(disk, seed, false);
        scenario.run(40);
        promises = scenario.promises();
      }
      if (disk->changes <= first) break;
      disk->fault = {};
      ++kills;
      CAPTURE(seed);
      CAPTURE(first);
      const auto journal = open_on(disk, 900);
      REQUIRE(journal->storage_status().ok());
      REQUIRE(facts_hold(promises, disk->operations.size(), journal->state()));
      const std::size_t opened = disk->operations.size();
      const Promises next = use_a_little(disk, *journal);
      PowerCutter cutter(*disk);
      while (cutter.position() < opened) cutter.advance();
      for (;;) {
        for (Cut cut : test::kAllCuts) {
          const Files image = cutter.image(cut, random);
          const auto after = open_on(std::make_shared<Disk>(image), 901);
          REQUIRE(after->storage_status().ok());
          REQUIRE_FALSE(after->recovery().set_aside);
          REQUIRE(facts_hold(promises, cutter.position(), after->state()));
          REQUIRE(facts_hold(next, cutter.position(), after->state()));
        }
        if (cutter.at_end()) break;
        cutter.advance();
      }
    }
  }
  CHECK(kills > 1000);
}

// Runs the same scenario with and without faults: what is in memory must not depend on the storage.
void fail_everywhere(StatusCode code, std::uint64_t fault_count) {
  const auto healthy = std::make_shared<Disk>();
  Scenario expected(healthy, 11, false);
  expected.run(70);
  const std::uint64_t changes = healthy->changes;
  std::uint64_t degraded = 0;
  for (std::uint64_t first = 0; first < changes; ++first) {
    CAPTURE(first);
    const auto disk = std::make_shared<Disk>();
    disk->fault = {first, fault_count, code, code == StatusCode::no_space};
    Scenario scenario(disk, 11, false);
    scenario.run(70);
    Journal& journal = scenario.journal();
    REQUIRE(journal.state().digest() == expected.journal().state().digest());
    if (!journal.storage_status().ok()) {
      ++degraded;
      CHECK(journal.storage_status().code() == code);
      CHECK_FALSE(journal.intent({trial_of(5, 5, 5), IntentStage::run, true}));
      journal.parked(trial_of(5, 5, 5).key());
    }
    // Nothing acknowledged is lost in a cut on top of it.
    const History history(*disk);
    PowerCutter cutter(*disk);
    while (!cutter.at_end()) cutter.advance();
    Random random(first);
    for (Cut cut : test::kAllCuts) {
      const Files image = cutter.image(cut, random);
      const Found found = look_at(image);
      REQUIRE(found.readable);
      REQUIRE(all_written(found, history));
      const auto next = open_on(std::make_shared<Disk>(image), 900);
      REQUIRE(next->storage_status().ok());
      REQUIRE(facts_hold(scenario.promises(), cutter.position(), next->state()));
    }
    // When the storage works again, so does the journal, and it has everything.
    disk->fault = {};
    journal.retry_storage(std::chrono::hours(1));
    journal.retry_storage(std::chrono::hours(2));
    REQUIRE(journal.storage_status().ok());
    REQUIRE(journal.shutdown().ok());
    const Found kept = look_at(disk->files());
    REQUIRE(kept.state == journal.state().digest());
  }
  CHECK(degraded > 0);
}

TEST_CASE("a storage that fills up at any operation costs the file and nothing in memory") {
  fail_everywhere(StatusCode::no_space, UINT64_MAX);
}
TEST_CASE(
    "a storage that becomes read-only at any operation costs the file and nothing in memory") {
  fail_everywhere(StatusCode::read_only, UINT64_MAX);
}
TEST_CASE("a storage that fails once at any operation costs the file and nothing in memory") {
  fail_everywhere(StatusCode::io_error, 1);
}
TEST_CASE("a storage that fails for good at any operation costs the file and nothing in memory") {
  fail_everywhere(StatusCode::io_error, UINT64_MAX);
}

}  // namespace
}  // namespace idletune::journal
