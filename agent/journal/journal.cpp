#include "agent/journal/journal.hpp"

#include <algorithm>
#include <utility>

namespace idletune::journal {
namespace {

constexpr std::uint64_t kSmallFileBytes = 64u << 10;  // not worth compacting
constexpr std::uint64_t kLiveFactor = 4;              // file size over live size that is
constexpr std::uint32_t kDeathsToQuarantine = 2;
constexpr std::size_t kMaxShapesNoted = 256;  // then they are written at once

JournalOptions within_limits(JournalOptions options) {
  const std::uint64_t least = 64u << 10;
  const std::uint64_t most = 8u << 20;
  options.max_file_bytes = std::min(std::max(options.max_file_bytes, least), most);
  options.max_measurements_per_shape =
      std::max<std::uint32_t>(options.max_measurements_per_shape, 16);
  return options;
}

Status taken_away() {
  return {StatusCode::not_found, "the journal was deleted or replaced while it was in use"};
}

}  // namespace

Status RecoveryReport::damage() const {
  if (!unreadable.ok()) {
    const bool newer = unreadable.code() == StatusCode::version_mismatch;
    return Status(unreadable.code(),
                  {"the journal could not be read (", unreadable.message(),
                   set_aside ? "); it was set aside as " : "); it was left where it is",
                   set_aside ? kSetAsideName : "",
                   newer ? " for the newer agent that wrote it, and this one keeps nothing" : ""});
  }
  if (malformed_records > 0) {
    return Status(StatusCode::corrupt, {"the journal holds ", malformed_records,
                                        " records of impossible content, which were skipped"});
  }
  if (displaced) return taken_away();
  return Status();
}

std::unique_ptr<Journal> Journal::open(std::unique_ptr<Storage> storage,
                                       const JournalOptions& options) {
  std::unique_ptr<Journal> journal(new Journal(std::move(storage), options));
  journal->load();
  return journal;
}

std::unique_ptr<Journal> Journal::open(Result<std::unique_ptr<Storage>> storage,
                                       const JournalOptions& options) {
  if (storage.ok()) return open(std::move(*storage), options);
  std::unique_ptr<Journal> journal(new Journal(nullptr, options));
  journal->load();
  journal->storage_status_ = storage.status();
  return journal;
}

Journal::Journal(std::unique_ptr<Storage> storage, const JournalOptions& options)
    : storage_(std::move(storage)),
      options_(within_limits(options)),
      state_(StateLimits::of_file(options_.max_file_bytes, options_.max_measurements_per_shape)) {}

Journal::~Journal() = default;

// --- Opening ---

void Journal::load() {
  if (storage_ == nullptr) {
    degrade({StatusCode::not_found, "the journal has no folder: it lives in memory"}, true);
    start_session();
    return;
  }
  if (options_.read_only) {
    degrade({StatusCode::read_only, "the journal was opened for reading only"}, true);
  } else if (Status locked = storage_->lock(); !locked.ok()) {
    // Somebody alive may be in the middle of the trials that look open.
    judging_ = locked.code() != StatusCode::busy;
    degrade(std::move(locked), true);
  }
  const bool continued = replay_file();
  if (options_.read_only) return;
  if (judging_) judge_open_trials();
  start_session();
  if (!sealed_ && !continued) {
    if (Status fresh = write_fresh_file(); !fresh.ok()) degrade(std::move(fresh), false);
  }
  if (writable()) {
    (void)sync();
    compact_if_large();
  }
}

// Reads the log and makes it ready for appending. False: it needs a fresh file (or is sealed).
bool Journal::replay_file() {
  Result<std::vector<std::uint8_t>> bytes = storage_->read(kJournalName, kMaxFileBytes);
  if (!bytes.ok() && bytes.code() == StatusCode::not_found) return false;
  if (!bytes.ok() && bytes.code() != StatusCode::out_of_memory) {
    degrade(bytes.status(), true);  // there is something that may be readable another day
    return false;
  }
  const Result<FileHeader> header =
      bytes.ok() ? read_file_header(*bytes) : Result<FileHeader>(bytes.status());
  if (!header.ok()) {
    recovery_.unreadable = header.status();
    // The newer agent comes back when its firmware does, and wants what it knew.
    if (header.code() == StatusCode::version_mismatch) degrade(header.status(), true);
    if (sealed_) return false;
    recovery_.set_aside = true;
    if (Status moved = storage_->rename(kJournalName, kSetAsideName); !moved.ok()) {
      degrade(std::move(moved), true);
    }
    return false;
  }
  generation_ = header->generation;
  RecordReader reader(*bytes, generation_);
  RecordView record;
  while (reader.next(record)) {
    switch (state_.apply(record.type, record.version, record.payload)) {
      case Replayed::understood: ++recovery_.records; break;
      case Replayed::unknown_type: ++recovery_.unknown_records; break;
      case Replayed::malformed: ++recovery_.malformed_records; break;
    }
  }
  recovery_.dropped_bytes = bytes->size() - reader.offset();
  if (!sealed_) continue_file(reader.offset());
  return writable() || !storage_status_.ok();
}

// Before anything is appended, the file must really end where the good records end (or the bytes
// after them might come to life again), and the folder must really name this file (the last session
// may have been killed between a compaction's rename and the sync of the folder).
void Journal::continue_file(std::uint64_t size_bytes) {
  Status status;
  if (recovery_.dropped_bytes > 0) status = storage_->truncate(kJournalName, size_bytes);
  if (status.ok()) {
    ++folder_syncs_;
    status = storage_->sync_folder();
  }
  if (!status.ok()) return degrade(std::move(status), false);
  Result<std::unique_ptr<AppendFile>> file = storage_->open_append(kJournalName);
  if (!file.ok()) return degrade(file.status(), false);
  (void)storage_->remove(kCompactionName);  // left over where a compaction was cut
  file_ = std::move(*file);
  file_bytes_ = size_bytes;
  synced_ = false;  // what a killed session appended may still be in the page cache alone
}

// If this process died while a trial ran in it, the trial is blamed. If it died while the helper
// compiled, and the board lived on, the trial had no part in it. Every other death is ambiguous:
// the first one makes the configuration a suspect, the second one quarantines it.
void Journal::judge_open_trials() {
  const std::uint64_t boot_then = state_.session().boot;
  const bool boots_known = options_.boot != 0 && boot_then != 0;
  const bool same_boot = !boots_known || options_.boot == boot_then;
  const std::vector<State::OpenTrial> open = state_.open_trials();
  for (const State::OpenTrial& trial : open) {
    const bool ran = !trial.intent.isolated || trial.intent.stage == IntentStage::run;
    if (!ran && boots_known && same_boot) continue;
    const std::optional<Suspect> earlier = state_.suspect(trial.key);
    const std::uint32_t deaths = (earlier ? earlier->deaths : 0) + 1;
    const bool in_process = !trial.intent.isolated && same_boot;
    if (in_process || deaths >= kDeathsToQuarantine) {
      ++recovery_.new_quarantines;
      quarantine(trial.intent.trial,
                 in_process ? QuarantineReason::in_process_death : QuarantineReason::repeated_death,
                 trial.intent.stage == IntentStage::compile ? "while compiling" : "while running");
    } else {
      ++recovery_.new_suspects;
      record(RecordType::suspect, encode(Suspect{trial.intent.trial, trial.key, deaths}));
    }
  }
}

void Journal::start_session() {
  record(RecordType::session, encode(Session{options_.boot, state_.session().number + 1}));
}

// --- Recording ---

bool Journal::intent(const Intent& intent) {
  const State::OpenTrial* open = state_.open_trial(intent.trial.key());
  const bool announced = open != nullptr && open->intent.stage >= intent.stage &&
                         open->intent.isolated == intent.isolated;
  if (!announced) {
    record(RecordType::intent, encode(intent));
    sync_record();
  }
  return writable();
}

void Journal::parked(const TrialKey& key) {
  if (state_.open_trial(key) != nullptr) record(RecordType::parked, encode(key));
}

void Journal::closed(const TrialKey& key) {
  if (state_.open_trial(key) != nullptr || state_.is_suspect(key)) {
    record(RecordType::closed, encode(key));
  }
}

void Journal::quarantine(const TrialKey& key, QuarantineReason reason, const std::string& detail) {
  const State::OpenTrial* open = state_.open_trial(key);
  record(RecordType::quarantine,
         encode(Quarantine{open != nullptr ? open->intent.trial : Trial(), key, reason, detail}));
  sync_record();
}

void Journal::quarantine(const Trial& trial, QuarantineReason reason, const std::string& detail) {
  record(RecordType::quarantine, encode(Quarantine{trial, trial.key(), reason, detail}));
  sync_record();
}

void Journal::measured(const Measurement& measurement) {
  record(RecordType::measurement, encode(measurement));
}

void Journal::named(const Name& name) {
  const std::optional<Name> known = state_.name(name.kind, name.digest);
  if (name.text.size() > kMaxNameBytes || (known && known->text == name.text)) return;
  record(RecordType::name, encode(name));
}

void Journal::adopted(const Adoption& adoption) {
  record(RecordType::adoption, encode(adoption));
  sync_record();
}

void Journal::demoted(const ShapeKey& key) {
  record(RecordType::demotion, encode(key));
  sync_record();
}

void Journal::note_ledger(const Ledger& ledger, std::chrono::nanoseconds now) {
  if (!(ledger == state_.ledger())) {
    const Payload payload = encode(ledger);
    (void)state_.apply(static_cast<std::uint8_t>(RecordType::ledger), kRecordVersion, payload);
    ledger_noted_ = true;
  }
  note_soon(now);
}

void Journal::note_shape(const ShapeStatistics& statistics, std::chrono::nanoseconds now) {
  const Payload payload = encode(statistics);
  (void)state_.apply(static_cast<std::uint8_t>(RecordType::shape_statistics), kRecordVersion,
                     payload);
  const auto same = [&](const ShapeStatistics& other) {
    return other.kernel == statistics.kernel && other.shape == statistics.shape;
  };
  const auto noted = std::find_if(shapes_noted_.begin(), shapes_noted_.end(), same);
  if (noted != shapes_noted_.end()) {
    *noted = statistics;
  } else {
    shapes_noted_.push_back(statistics);
  }
  if (shapes_noted_.size() >= kMaxShapesNoted) write_notes();
  note_soon(now);
}

// The first note starts the interval.
void Journal::note_soon(std::chrono::nanoseconds now) {
  if (!ledger_noted_ && shapes_noted_.empty()) return;
  if (!notes_due_known_) {
    notes_due_known_ = true;
    notes_due_ = now + options_.note_interval;
  }
  if (now < notes_due_) return;
  write_notes();
  notes_due_ = now + options_.note_interval;
}

void Journal::write_notes() {
  if (ledger_noted_) append(RecordType::ledger, encode(state_.ledger()));
  ledger_noted_ = false;
  const std::vector<ShapeStatistics> shapes = std::move(shapes_noted_);
  shapes_noted_.clear();
  for (const ShapeStatistics& shape : shapes) append(RecordType::shape_statistics, encode(shape));
}

void Journal::record(RecordType type, Bytes payload) {
  (void)state_.apply(static_cast<std::uint8_t>(type), kRecordVersion, payload);
  append(type, payload);
}

void Journal::append(RecordType type, Bytes payload) {
  if (!writable()) return;
  if (storage_->identity_of(kJournalName) != file_->identity()) {
    displaced_ = recovery_.displaced = true;
    return change_file(taken_away());
  }
  Payload bytes;
  append_record(static_cast<std::uint8_t>(type), kRecordVersion, payload, generation_, file_bytes_,
                bytes);
  if (Status status = file_->append(bytes); !status.ok()) return change_file(std::move(status));
  file_bytes_ += bytes.size();
  synced_ = false;
  compact_if_large();
}

// --- Storage ---

void Journal::sync_record() {
  if (defers_syncs_) {
    sync_due_ = true;
  } else {
    (void)sync();
  }
}

std::shared_ptr<AppendFile> Journal::take_due_sync() {
  const bool due = sync_due_ && writable() && !synced_;
  sync_due_ = false;
  if (!due) return nullptr;
  ++file_syncs_;
  syncing_bytes_ = file_bytes_;
  return file_;
}

void Journal::sync_ended(const std::shared_ptr<AppendFile>& file, Status status) {
  if (file != file_) return;  // another file has all that it had
  if (!status.ok()) return change_file(std::move(status));
  synced_ = synced_ || file_bytes_ == syncing_bytes_;
}

Status Journal::sync() {
  if (!writable()) return storage_status_;
  if (synced_) return Status();
  ++file_syncs_;
  if (Status status = file_->sync(); !status.ok()) {
    // What the file holds is not known any more: a later sync may succeed without having written
    // it.
    change_file(std::move(status));
    return storage_status_;
  }
  synced_ = true;
  return Status();
}

void Journal::compact_if_large() {
  const std::uint64_t live = state_.live_bytes();
  const std::uint64_t large =
      std::min(std::max(kSmallFileBytes, kLiveFactor * live), options_.max_file_bytes);
  if (file_bytes_ <= std::max(large, compact_at_bytes_)) return;
  const Status status = write_fresh_file();
  if (status.ok() || !writable()) return;
  // No room for a second file. The log goes on as it is, as long as it may.
  if (file_bytes_ > options_.max_file_bytes) return degrade(status, false);
  compact_at_bytes_ = file_bytes_ + kSmallFileBytes;
}

Status Journal::compact() {
  if (sealed_) return storage_status_;
  Status status = write_fresh_file();
  if (!status.ok() && !writable()) degrade(status, false);
  return status;
}

// The log failed with `reason`: nothing may be appended to it any more. Everything that it should
// hold is in memory and goes into a fresh file, now or when retry_storage() says so.
void Journal::change_file(Status reason) {
  degrade(std::move(reason), false);
  if (Status fresh = write_fresh_file(); !fresh.ok()) degrade(std::move(fresh), false);
}

// The live state into kCompactionName, synced, then over kJournalName, then the folder synced.
// After an error before the rename the old log is untouched and goes on; after a later one nobody
// knows which of the two files the medium has, and the journal degrades.
Status Journal::write_fresh_file() {
  if (displaced_) {
    if (Status found = find_new_place(); !found.ok()) return found;
  }
  Payload bytes;
  append_file_header({kFormatVersion, generation_ + 1}, bytes);
  state_.for_each_live_record([&](std::uint8_t type, std::uint8_t version, Bytes payload) {
    append_record(type, version, payload, generation_ + 1, bytes.size(), bytes);
  });
  Result<std::unique_ptr<AppendFile>> fresh = storage_->create(kCompactionName);
  if (!fresh.ok()) {
    displaced_ = fresh.code() == StatusCode::not_found;  // the folder is gone
    return fresh.status();
  }
  if (Status status = write_compaction_file(**fresh, bytes); !status.ok()) {
    fresh->reset();
    (void)storage_->remove(kCompactionName);
    return status;
  }
  Status status = storage_->rename(kCompactionName, kJournalName);
  if (status.ok()) {
    ++folder_syncs_;
    status = storage_->sync_folder();
  }
  if (!status.ok()) {
    degrade(status, false);
    return status;
  }
  file_ = std::move(*fresh);
  storage_status_ = Status();
  ++generation_;
  file_bytes_ = bytes.size();
  compact_at_bytes_ = 0;
  synced_ = true;
  ledger_noted_ = false;
  shapes_noted_.clear();
  return Status();
}

// Whoever put another log in the place of ours wants that one.
Status Journal::find_new_place() {
  if (Status opened = storage_->open_again(); !opened.ok()) return opened;
  displaced_ = false;
  if (storage_->identity_of(kJournalName) == 0) return Status();
  degrade({StatusCode::busy, "another journal was put in the place of the one in use"}, true);
  return storage_status_;
}

Status Journal::write_compaction_file(AppendFile& file, const Payload& bytes) {
  if (Status status = file.append(bytes); !status.ok()) return status;
  ++file_syncs_;
  return file.sync();
}

void Journal::retry_storage(std::chrono::nanoseconds now) {
  if (sealed_ || writable()) return;
  if (!retry_at_known_) {
    retry_at_known_ = true;
    retry_at_ = now + options_.retry_interval;
  }
  if (now < retry_at_) return;
  retry_at_ = now + options_.retry_interval;
  if (Status status = write_fresh_file(); !status.ok()) degrade(std::move(status), false);
}

Status Journal::shutdown() {
  write_notes();
  record(RecordType::clean_shutdown, Bytes());
  return sync();
}

void Journal::degrade(Status status, bool for_good) {
  file_.reset();
  if (sealed_) return;  // the first reason stays
  storage_status_ = std::move(status);
  sealed_ = for_good;
  retry_at_known_ = false;
}

}  // namespace idletune::journal
