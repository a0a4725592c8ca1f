#include "agent/journal/journal.hpp"

#include <algorithm>
#include <list>
#include <utility>

#include "agent/journal/event_sink.hpp"
#include "models/core/lists.hpp"

namespace idletune::journal {
namespace {

JournalOptions within_limits(JournalOptions options) {
  const std::uint64_t least = 64u << 10;
  const std::uint64_t most = 8u << 20;
  options.max_file_bytes = std::min(std::max(options.max_file_bytes, least), most);
  options.max_measurements_per_shape =
      std::max<std::uint32_t>(options.max_measurements_per_shape, 16);
  return options;
}

}  // namespace

std::unique_ptr<Journal> Journal::open(std::unique_ptr<Storage> storage,
                                       const JournalOptions& options) {
  std::unique_ptr<Journal> journal(new Journal(std::move(storage), options));
  journal->load({StatusCode::not_found, "the journal has no folder: it lives in memory"});
  return journal;
}

std::unique_ptr<Journal> Journal::open(Result<std::unique_ptr<Storage>> storage,
                                       const JournalOptions& options) {
  if (storage.ok()) return open(std::move(*storage), options);
  std::unique_ptr<Journal> journal(new Journal(nullptr, options));
  journal->load(storage.status());
  return journal;
}

Journal::Journal(std::unique_ptr<Storage> storage, const JournalOptions& options)
    : options_(within_limits(options)),
      state_(StateLimits::of_file(options_.max_file_bytes, options_.max_measurements_per_shape)),
      outbox_(std::move(storage), options_, state_) {}

Journal::~Journal() { outbox_.settle(); }

Status Journal::damage() const {
  if (const Status& why = recovery_.unreadable; !why.ok()) {
    const bool newer = why.code() == StatusCode::version_mismatch;
    const bool set_aside = recovery_.set_aside;
    return Status(why.code(), "the journal could not be read (%%%%", why.message(),
                  set_aside ? "); it was set aside as " : "); it was left where it is",
                  set_aside ? kSetAsideName : "",
                  newer ? " for the newer agent that wrote it, and this one keeps nothing" : "");
  }
  if (recovery_.malformed_records > 0) {
    return Status(StatusCode::corrupt, "% impossible records of the journal were skipped",
                  recovery_.malformed_records);
  }
  if (!outbox_.displaced()) return Status();
  return {StatusCode::not_found, "the journal was deleted or replaced while it was in use"};
}

// --- Opening ---

void Journal::load(Status no_storage) {
  Storage* const storage = outbox_.storage();
  bool judging = storage != nullptr;
  if (storage == nullptr) {
    outbox_.degrade(std::move(no_storage), true);
  } else if (options_.read_only) {
    outbox_.degrade({StatusCode::read_only, "the journal was opened for reading only"}, true);
  } else if (Status locked = storage->lock(); !locked.ok()) {
    // Somebody alive may be in the middle of the trials that look open.
    judging = locked.code() != StatusCode::busy;
    outbox_.degrade(std::move(locked), true);
  }
  const bool continued = storage != nullptr && replay_file(*storage);
  if (storage != nullptr && options_.read_only) return;
  if (judging) judge_open_trials();
  record(Session{options_.boot, state_.session().number + 1});
  outbox_.begin(!continued);  // one write for all
}

// Reads the log and makes it ready for appending. False: it needs a fresh file (or is sealed).
bool Journal::replay_file(Storage& storage) {
  Result<std::vector<std::uint8_t>> bytes = storage.read(kJournalName, kMaxFileBytes);
  if (!bytes.ok() && bytes.code() == StatusCode::not_found) return false;
  if (!bytes.ok() && bytes.code() != StatusCode::out_of_memory) {
    outbox_.degrade(bytes.status(), true);  // there is something that may be readable another day
    return false;
  }
  const Result<FileHeader> header =
      bytes.ok() ? read_file_header(*bytes) : Result<FileHeader>(bytes.status());
  if (!header.ok()) {
    recovery_.unreadable = header.status();
    // The newer agent comes back when its firmware does, and wants what it knew.
    if (header.code() == StatusCode::version_mismatch) outbox_.degrade(header.status(), true);
    if (outbox_.sealed()) return false;
    Status moved = storage.rename(kJournalName, kSetAsideName);
    recovery_.set_aside = moved.ok();
    if (!moved.ok()) outbox_.degrade(std::move(moved), true);
    return false;
  }
  RecordReader reader(*bytes, header->generation);
  RecordView record;
  while (reader.next(record)) {
    const Replayed replayed = state_.apply(record.type, record.version, record.payload);
    if (replayed == Replayed::malformed) ++recovery_.malformed_records;
  }
  recovery_.dropped_bytes = bytes->size() - reader.offset();
  if (!outbox_.sealed()) {
    outbox_.go_on(header->generation, reader.offset(), recovery_.dropped_bytes > 0);
  }
  return true;
}

void Journal::judge_open_trials() {
  std::vector<Begun> begun;
  const bool traced = options_.trace && options_.trace(state_.session().number, begun);
  const bool same_boot = traced || (options_.boot != 0 && options_.boot == state_.session().boot);
  if (!traced || state_.ended_cleanly()) begun.clear();
  std::vector<Open> open;
  for (const Dangers::OpenTrial& each : state_.dangers().open_trials()) {
    bool its = !traced;
    for (Begun& one : begun) {
      if (one.who != each.trial.who() || one.shape != each.key.shape || one.place != each.place) {
        continue;
      }
      its = true;
      one.who = 0;  // told
    }
    push(open, Open{each.trial, each.place, each.stage, its});
  }
  // Launches for a class are announced nowhere else.
  for (const Begun& each : begun) {
    if (each.place != Where::launches) continue;
    bool known = false;
    state_.for_each_measurement([&](const Measurement& measurement) {
      if (known || measurement.trial.who() != each.who) return;
      known = true;
      push(open, Open{measurement.trial, each.place, IntentStage::run, true, each.shape});
    });
  }
  const Ending ending = same_boot ? Ending::application_died : Ending::machine_cut;
  std::vector<Verdict> verdicts =
      judge(open, ending, traced ? Witness::trace : Witness::next_start);
  if (options_.boot == 0 || state_.session().boot == 0) {
    for (Verdict& verdict : verdicts) {
      if (verdict.cause == SuspicionCause::machine_cut) verdict.cause = SuspicionCause::unknown;
    }
  }
  const Accused accused = accuse(verdicts);
  recovery_.new_suspects = accused.suspects;
  recovery_.new_quarantines = accused.quarantines;
}

// --- Recording ---

void Journal::record(RecordType type, const void* value) { add(type, encode(type, value)); }

void Journal::add(RecordType type, Payload payload) {
  if (options_.events != nullptr) options_.events->recorded(type, payload, state_);
  (void)state_.apply(static_cast<std::uint8_t>(type), kRecordVersion, payload);
  outbox_.add(type, std::move(payload));
}

Serial Journal::intent(const Intent& intent) {
  const Dangers::OpenTrial* open = state_.dangers().open_trial(intent.trial.key());
  const Where place = intent.isolated ? Where::helper : Where::here;
  if (open != nullptr && open->stage >= intent.stage && open->place == place) return outbox_.due();
  if (open == nullptr && !state_.dangers().has_room_for(1, false)) return 0;
  record(intent);
  return outbox_.sync_soon();
}

Serial Journal::exposed(Span<const Trial> trials, Where place) {
  if (!state_.dangers().has_room_for(trials.size(), true)) return 0;
  bool announced = true;
  for (const Trial& trial : trials) {
    if (state_.dangers().is_exposed(trial.key(), place)) continue;
    record(Exposure{trial, place, state_.session().number});
    announced = false;
  }
  return announced ? outbox_.due() : outbox_.sync_soon();
}

void Journal::parked(const Trial& trial, Where place) {
  const TrialKey key = trial.key();
  const Dangers::OpenTrial* open = state_.dangers().open_trial(key);
  if ((open != nullptr && open->place == place) || state_.dangers().is_exposed(key, place)) {
    const Ended ended{key, true, place, trial.data};
    record(RecordType::parked, &ended);
  }
}

void Journal::withdrawn(const Trial& trial, Where place) {
  const Serial before = outbox_.recorded();
  parked(trial, place);
  if (outbox_.recorded() != before) (void)outbox_.sync_soon();
}

void Journal::closed(const Trial& trial, Where place) {
  const TrialKey key = trial.key();
  const Dangers::OpenTrial* open = state_.dangers().open_trial(key);
  if ((open != nullptr && open->place == place) || state_.dangers().is_exposed(key, place) ||
      state_.dangers().is_suspect(trial)) {
    record(Ended{key, true, place, trial.data});
  }
}

Journal::Accused Journal::accuse(const std::vector<Verdict>& verdicts) {
  Accused accused;
  for (const Verdict& verdict : verdicts) {
    ++(accuse_one(verdict) ? accused.quarantines : accused.suspects);
  }
  if (!verdicts.empty()) (void)outbox_.sync_soon();
  return accused;
}

// True: quarantined.
bool Journal::accuse_one(const Verdict& verdict) {
  const Trial& trial = verdict.trial;
  const std::uint64_t session = state_.session().number;
  std::optional<Suspect> suspect = state_.dangers().suspect(trial);
  const bool fresh = !suspect || suspect->deaths == 0;
  const bool again = !fresh && (suspect->session != session || suspect->retried);
  const bool hung = verdict.conclusion == Conclusion::quarantine;
  if (again || hung) {
    const auto reason = hung ? QuarantineReason::hang : QuarantineReason::repeated_death;
    record(Quarantine{trial, trial.plain_key(), reason, verdict.detail});
    return true;
  }
  if (!suspect) suspect.emplace();
  if (fresh) {
    suspect->trial = trial;
    suspect->key = trial.plain_key();
    suspect->deaths = 1;
    suspect->session = session;
    suspect->retried = suspect->survived = false;
  }
  if (!suspect->crash_seen()) suspect->cause = verdict.cause;
  if (suspect->detail.empty()) suspect->detail = verdict.detail;
  for (const Suspect::Place& place : verdict.at) push(suspect->at, place);
  record(*suspect);
  return false;
}

void Journal::reference_ran(std::uint64_t device, std::uint64_t driver, bool well) {
  std::list<TrialKey> seen;
  state_.dangers().for_each_suspect([&](const Suspect& suspect) {
    if (suspect.crash_seen_in(state_.session().number) && suspect.key.device == device &&
        suspect.key.driver == driver) {
      seen.push_back(suspect.key);
    }
  });
  for (const TrialKey& key : seen) {
    std::optional<Suspect> suspect = state_.dangers().suspect(key);
    if (!suspect) continue;
    if (well) {
      const QuarantineReason reason =
          suspect->cause == SuspicionCause::hang ? QuarantineReason::hang : QuarantineReason::crash;
      record(Quarantine{suspect->trial, key, reason, suspect->detail});
    } else {
      suspect->deaths = 0;
      suspect->cause = SuspicionCause::device_lost;
      record(*suspect);
    }
  }
  if (!seen.empty()) (void)outbox_.sync_soon();
}

void Journal::quarantine(const Trial& trial, QuarantineReason reason, const std::string& detail) {
  record(Quarantine{trial, trial.plain_key(), reason, detail});
  (void)outbox_.sync_soon();
}

void Journal::wrong(const Trial& trial, std::uint64_t class_key) {
  record(Wrong{trial, class_key});
  (void)outbox_.sync_soon();
}

void Journal::measured(const Measurement& measurement) { record(measurement); }

void Journal::named(const Name& name) {
  const std::optional<Name> known = state_.name(name.kind, name.digest);
  if (name.text.size() > kMaxNameBytes || (known && known->text == name.text)) return;
  record(name);
}

void Journal::adopted(const Adoption& adoption) {
  record(adoption);
  (void)outbox_.sync_soon();
}

void Journal::demoted(const Demotion& demotion) {
  record(demotion);
  (void)outbox_.sync_soon();
}

void Journal::models(Bytes bytes) {
  add(RecordType::models, copy(bytes));
  (void)outbox_.sync_soon();
}

void Journal::note_ledger(const Ledger& ledger, std::chrono::nanoseconds now) {
  if (!(ledger == state_.ledger())) {
    (void)state_.apply(static_cast<std::uint8_t>(RecordType::ledger), kRecordVersion,
                       encode(ledger));
    outbox_.note_ledger();
  }
  outbox_.note_soon(now);
}

// Time passes for shapes that nobody launches, too.
void Journal::note_shape(const ShapeStatistics& statistics, std::chrono::nanoseconds now) {
  const auto known = state_.shape_statistics(statistics.kernel, statistics.shape);
  if (!known || known->launches != statistics.launches) {
    Payload payload = encode(statistics);
    (void)state_.apply(static_cast<std::uint8_t>(RecordType::shape_statistics), kRecordVersion,
                       payload);
    outbox_.note_shape(statistics_key(statistics.kernel, statistics.shape), std::move(payload));
  }
  outbox_.note_soon(now);
}

Status Journal::flush() {
  outbox_.post_notes();
  return sync();
}

Status Journal::shutdown() {
  outbox_.post_notes();
  add(RecordType::clean_shutdown, Payload());
  return sync();
}

}  // namespace idletune::journal
