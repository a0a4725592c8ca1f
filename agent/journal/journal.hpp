// What this board measured, decided and quarantined, kept through power cuts (README.md: the bytes,
// the syncs, what "acknowledged" means).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <idletune/result.hpp>

#include "agent/journal/entries.hpp"
#include "agent/journal/state.hpp"
#include "platform/os/storage.hpp"

namespace idletune::journal {

inline constexpr char kJournalName[] = "journal";         // the log, in the state folder
inline constexpr char kCompactionName[] = "journal.new";  // the next log while it is written
inline constexpr char kSetAsideName[] =
    "journal.unreadable";  // one we could not read; kept for people

struct JournalOptions {
  // Identity of this boot: boot_identity(). 0: unknown, every death then counts as the worst it can
  // be.
  std::uint64_t boot = 0;
  // The file is compacted before it grows past this. Default 4 MiB; clipped to [64 KiB, 8 MiB]. A
  // board with little flash takes less and remembers fewer measurements.
  std::uint64_t max_file_bytes = 4u << 20;
  // Measurements kept per (kernel, device, driver, shape). Default 4096, at least 16; the worst go
  // first.
  std::uint32_t max_measurements_per_shape = 4096;
  // Ledger and launch statistics are written at most this often, to spare the flash. Default 60 s.
  // A cut loses at most this much of the account (its charges and its earnings alike).
  std::chrono::nanoseconds note_interval = std::chrono::seconds(60);
  // After a failed write the journal lives in memory and tries the storage again at most this
  // often.
  std::chrono::nanoseconds retry_interval = std::chrono::seconds(60);
  // Only look: nothing is written, no lock is taken, and open trials stay open: the agent may be
  // running, with one of them under way.
  bool read_only = false;
};

// What opening found, and what became of the file since.
struct RecoveryReport {
  // Ok, or in one line what was lost: a whole file that is unreadable (its code), records whose
  // content is impossible (corrupt), a log that somebody took away (not_found). A torn end is not
  // lost: nobody was promised it.
  Status damage() const;

  std::uint64_t records = 0;            // read and understood
  std::uint64_t unknown_records = 0;    // of a type this version does not know; skipped and kept
  std::uint64_t malformed_records = 0;  // right checksum, impossible content; skipped
  std::uint64_t dropped_bytes = 0;      // after the last good record: torn by a cut
  Status unreadable;                    // why nothing of the file could be read; ok if it could
  bool set_aside = false;               // an unreadable file was renamed to kSetAsideName
  bool displaced = false;               // it was deleted or replaced while in use; see below
  std::uint32_t new_suspects = 0;       // trials whose death was ambiguous
  std::uint32_t new_quarantines = 0;    // trials quarantined because of how the last session ended
};

// Single-threaded: one thread at a time. Recording never fails: where the storage is missing, full,
// read-only, broken, another process's or a newer version's, what is recorded lives in memory, and
// storage_status() says why. A log that is deleted or replaced, with its folder or alone, is
// noticed when the next record is written: what is known goes into a new one, unless another
// journal lies there. Memory is bounded by the options.
class Journal {
 public:
  // Opens or creates the journal in `storage` (owned; null for memory only), replays it, judges the
  // trials that were open when the last session died, and starts a session. Never null.
  static std::unique_ptr<Journal> open(std::unique_ptr<Storage> storage,
                                       const JournalOptions& options);
  // The same from the outcome of open_posix_storage: its failure becomes storage_status().
  static std::unique_ptr<Journal> open(Result<std::unique_ptr<Storage>> storage,
                                       const JournalOptions& options);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  // Writes nothing: without shutdown() the next open sees a death.
  ~Journal();

  // Everything that is remembered, and the queries on it.
  const State& state() const { return state_; }
  const RecoveryReport& recovery() const { return recovery_; }
  // Success while records reach the storage; else why they do not: not_found, read_only, no_space,
  // io_error, busy (another process has the journal: what it knew at our opening is used),
  // version_mismatch (a newer agent wrote it, and may come back: nothing of it is used or changed).
  const Status& storage_status() const { return storage_status_; }

  // --- Before and after danger -------------------------------------------------------------------
  // Call before the first compile, and again with `run` before the first run. Returns after the
  // intent is on the medium (one sync; none if this trial is already open at this stage or a later
  // one), true if it is, false if the journal lives in memory: then only this process will
  // remember.
  bool intent(const Intent& intent);
  // The trial rests between stages and nothing of it runs: a death now is not its fault. Not
  // synced. Costs the next intent() of the trial one more sync.
  void parked(const TrialKey& key);
  // The trial came to an outcome that the process survived: it is closed and no longer suspect. Not
  // synced (a lost one makes a suspect at worst).
  void closed(const TrialKey& key);
  // Never try this configuration again under this driver, at any shape. Closes it. Synced. Shape
  // and configuration may be left empty in `trial` only if an intent of `key` is open.
  void quarantine(const TrialKey& key, QuarantineReason reason, const std::string& detail);
  void quarantine(const Trial& trial, QuarantineReason reason, const std::string& detail);

  // --- Knowledge ---------------------------------------------------------------------------------
  // Replaces an earlier measurement of the same trial. Not synced by itself.
  void measured(const Measurement& measurement);
  // Recorded once; not synced by itself. Texts beyond kMaxNameBytes are not kept.
  void named(const Name& name);
  // From now on in use for its shape. Synced (with everything before it).
  void adopted(const Adoption& adoption);
  // The shape's adopted configuration no longer wins: back to the default. Synced.
  void demoted(const ShapeKey& key);
  // The newest cumulative figures; written when note_interval of the tuner's clock `now` has passed
  // since the last writing, and by shutdown(). The state shows them at once.
  void note_ledger(const Ledger& ledger, std::chrono::nanoseconds now);
  void note_shape(const ShapeStatistics& statistics, std::chrono::nanoseconds now);

  // --- Storage -----------------------------------------------------------------------------------
  // Success: all that was recorded before is on the medium ("acknowledged"). Else storage_status().
  Status sync();
  // From now on what says above that it is synced is recorded only, and due: whoever calls
  // take_due_sync() syncs the file on a thread of its choice (recording may go on meanwhile), and
  // tells what came of it. Null: nothing is due.
  void defer_syncs() { defers_syncs_ = true; }
  std::shared_ptr<AppendFile> take_due_sync();
  void sync_ended(const std::shared_ptr<AppendFile>& file, Status status);
  // Tries a failed storage again if retry_interval has passed (a compaction into a fresh file).
  // Cheap when there is nothing to do; the agent calls it now and then. A journal that another
  // process had at our opening, that could not be read, or that is a newer agent's, stays in memory
  // for good.
  void retry_storage(std::chrono::nanoseconds now);
  // Writes the live state alone into a fresh file and replaces the log with it. Happens by itself
  // when the file passes max(64 KiB, 4 times its live size) or max_file_bytes.
  Status compact();
  // Writes pending notes and the clean-shutdown mark, and syncs. Recording may go on afterwards.
  Status shutdown();

  // Size of the log file and what of it is live, in bytes.
  std::uint64_t file_bytes() const { return file_bytes_; }
  // Syncs of the file and of the folder since opening, for tests and explain.
  std::uint64_t file_syncs() const { return file_syncs_; }
  std::uint64_t folder_syncs() const { return folder_syncs_; }

 private:
  Journal(std::unique_ptr<Storage> storage, const JournalOptions& options);
  void load();
  bool replay_file();
  void continue_file(std::uint64_t size_bytes);
  void judge_open_trials();
  void start_session();
  void record(RecordType type, Bytes payload);
  void append(RecordType type, Bytes payload);
  void sync_record();
  void compact_if_large();
  void note_soon(std::chrono::nanoseconds now);
  void write_notes();
  bool writable() const { return file_ != nullptr; }
  Status write_fresh_file();
  Status write_compaction_file(AppendFile& file, const Payload& bytes);
  void change_file(Status reason);
  Status find_new_place();
  void degrade(Status status, bool for_good);

  std::unique_ptr<Storage> storage_;
  JournalOptions options_;
  State state_;
  RecoveryReport recovery_;
  Status storage_status_;
  std::shared_ptr<AppendFile> file_;  // null: recording to memory
  std::uint64_t generation_ = 0;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t compact_at_bytes_ = 0;
  std::uint64_t file_syncs_ = 0;
  std::uint64_t folder_syncs_ = 0;
  bool sealed_ = false;     // the storage is never written again
  bool displaced_ = false;  // the folder's path leads elsewhere by now
  bool judging_ = true;     // the last session's open trials are ours to judge
  bool synced_ = true;      // everything appended is on the medium
  bool defers_syncs_ = false;
  bool sync_due_ = false;
  std::uint64_t syncing_bytes_ = 0;  // of the file when a sync was taken
  bool retry_at_known_ = false;
  std::chrono::nanoseconds retry_at_{0};
  bool notes_due_known_ = false;
  std::chrono::nanoseconds notes_due_{0};
  bool ledger_noted_ = false;                  // newer than the file's
  std::vector<ShapeStatistics> shapes_noted_;  // likewise
};

}  // namespace idletune::journal
