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

#include "agent/journal/deaths.hpp"
#include "agent/journal/entries.hpp"
#include "agent/journal/log_file.hpp"
#include "agent/journal/state.hpp"
#include "platform/os/storage.hpp"

namespace idletune::journal {

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
  // Asked once, by whoever has the lock: who had begun and not ended when that session died. False:
  // nobody knows; then all that is open counts as begun. Null: nobody can.
  std::function<bool(std::uint64_t session, std::vector<Begun>& begun)> trace{};
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
  std::uint32_t new_suspects = 0;       // configurations suspected because of how the last session
  std::uint32_t new_quarantines = 0;    // ended, and quarantined: it was their second death
};

// Counts what was recorded; see Journal::durable().
using Serial = std::uint64_t;

// What a journal has to write, in the hands of any one thread: once, and nothing else may be asked
// of the journal's storage meanwhile.
class JournalWrite {
 public:
  void run();

 private:
  friend class Journal;
  std::shared_ptr<LogFile> log_;
  std::vector<LogRecord> records_;
  std::vector<LogRecord>
      all_;  // into a fresh file, if `fresh_`; `records_` into the old one if not
  bool fresh_ = false;
  bool sync_ = false;
  Serial serial_ = 0;
  bool replaced_ = false;
  Status not_replaced_;  // why; the old file goes on
  Status status_;
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
  // Writes what is left of the outbox, and no mark: without shutdown() the next open sees a death.
  ~Journal();

  // Everything that is remembered, and the queries on it.
  const State& state() const { return state_; }
  const RecoveryReport& recovery() const { return recovery_; }
  // Success while records reach the storage; else why they do not: not_found, read_only, no_space,
  // io_error, busy (another process has the journal: what it knew at our opening is used),
  // version_mismatch (a newer agent wrote it, and may come back: nothing of it is used or changed).
  const Status& storage_status() const { return storage_status_; }

  // --- Before and after danger -------------------------------------------------------------------
  // Call before the first compile, and again with `run` before the first run. Synced, unless this
  // trial is open at this stage or a later one already: nothing of it may begin before
  // durable(serial). 0: it may not begin at all, too many trials are open.
  Serial intent(const Intent& intent);
  // Call before a build or a warm-up in this process (here), and before the first launch of a racer
  // or of what was adopted in this session (launches): all of them at once, for one sync. 0: too
  // many are exposed, and none of these was recorded.
  Serial exposed(Span<const Trial> trials, Where place);
  Serial exposed(const Trial& trial, Where place) { return exposed({&trial, 1}, place); }
  // What was announced as of `place` rests, or ended in another way than by an outcome of its own:
  // it is closed, and no suspicion cleared. Not synced. Costs the next intent() one more sync.
  void parked(const Trial& trial, Where place);
  // The same of what was announced and never begun. Synced: a cut could not tell it from begun.
  void withdrawn(const Trial& trial, Where place);
  // The trial came to an outcome of its own that everybody survived, a launch of it ended well: it
  // is closed. A trial acquits of deaths in trials at its shape (and those elsewhere have been
  // survived), launches of deaths in the application. Not synced (a lost one makes a suspect).
  void closed(const Trial& trial, Where place);
  // What `judge` found, recorded now, closed, and synced. A suspect whose earlier death was not
  // acquitted is quarantined; within a session, and while it is not announced anew, all is one
  // death.
  struct Accused {
    std::uint32_t suspects = 0;
    std::uint32_t quarantines = 0;
  };
  Accused accuse(const std::vector<Verdict>& verdicts);
  void suspected(const Trial& trial, Where place, SuspicionCause cause, const std::string& detail);
  // In a new helper on this device since the last crash or hang there. Well: those that were seen
  // to crash or hang are quarantined. Not: nobody knows who it was, and they stay suspects. Synced.
  void reference_ran(std::uint64_t device, std::uint64_t driver, bool well);
  // Never try this configuration again under its plain driver, at any shape. Closes it. Synced.
  void quarantine(const Trial& trial, QuarantineReason reason, const std::string& detail);
  // A check failed: never again at this shape. `class_key` of its shapes; 0: unknown. Synced.
  void wrong(const Trial& trial, std::uint64_t class_key);

  // --- Knowledge ---------------------------------------------------------------------------------
  // Replaces an earlier measurement of the same trial. Not synced by itself.
  void measured(const Measurement& measurement);
  // Recorded once; not synced by itself. Texts beyond kMaxNameBytes are not kept.
  void named(const Name& name);
  // From now on in use for its shape. Synced (with everything before it).
  void adopted(const Adoption& adoption);
  // The shape's adopted configuration no longer wins: back to the default. Synced.
  void demoted(const Demotion& demotion);
  // The newest cumulative figures; those that changed (a shape's with its launches) are written
  // when note_interval of the tuner's clock `now` has passed since the last writing, and by flush()
  // and shutdown(). The state shows them at once.
  void note_ledger(const Ledger& ledger, std::chrono::nanoseconds now);
  void note_shape(const ShapeStatistics& statistics, std::chrono::nanoseconds now);

  // --- Storage -----------------------------------------------------------------------------------
  // Whether all up to there is on the medium, or the journal lives in memory: then only this
  // process will remember.
  bool durable(Serial serial) const { return !keeps_ || serial <= durable_; }
  // Success: all that was recorded before is on the medium ("acknowledged"). Else storage_status();
  // busy while a write is out.
  Status sync();
  // The same with the notes.
  Status flush();
  // From now on recording changes what is known and nothing else: whoever calls take_outbox() lets
  // a thread of its choice run what it gets (recording may go on meanwhile) and hands it back.
  // Null: there is nothing to write, or a write is out. sync, flush, compact and shutdown stay what
  // they are; call them while no write is out.
  void defer_writes() { defers_ = true; }
  std::unique_ptr<JournalWrite> take_outbox();
  void written(std::unique_ptr<JournalWrite> write);
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

  // Size of the log file in bytes, and syncs of the file and of the folder since opening; as of the
  // last write.
  std::uint64_t file_bytes() const { return log_ == nullptr ? 0 : file_bytes_; }
  std::uint64_t file_syncs() const { return file_syncs_; }
  std::uint64_t folder_syncs() const { return folder_syncs_; }

 private:
  Journal(std::unique_ptr<Storage> storage, const JournalOptions& options);
  void load();
  bool replay_file();
  void judge_open_trials();
  bool accuse_one(const Verdict& verdict);
  void start_session();
  void record(RecordType type, Payload payload);
  void post(RecordType type, Payload payload);
  Serial sync_record();
  void note_soon(std::chrono::nanoseconds now);
  void post_notes();
  bool is_large() const;
  void settle();
  void degrade(Status status, bool for_good);

  std::shared_ptr<LogFile> log_;  // a write's while one is out; null: there is no storage
  JournalOptions options_;
  State state_;
  RecoveryReport recovery_;
  Status storage_status_;
  std::vector<LogRecord> outbox_;
  std::uint64_t outbox_bytes_ = 0;
  bool keeps_ = false;      // records reach the storage, or will
  bool sealed_ = false;     // the storage is never written again
  bool judging_ = true;     // the last session's open trials are ours to judge
  bool defers_ = false;     // somebody else writes
  bool writing_ = false;    // a write is out
  bool fresh_due_ = false;  // all that is known goes into a fresh file
  Serial recorded_ = 1;     // of the newest record
  Serial due_ = 0;          // up to here a sync is due
  Serial durable_ = 0;      // up to here everything is on the medium
  std::uint64_t file_bytes_ = 0;
  std::uint64_t file_syncs_ = 0;
  std::uint64_t folder_syncs_ = 0;
  std::uint64_t compact_at_bytes_ = 0;
  bool retry_at_known_ = false;
  std::chrono::nanoseconds retry_at_{0};
  bool notes_due_known_ = false;
  std::chrono::nanoseconds notes_due_{0};
  bool ledger_noted_ = false;  // newer than the file's
  Table shapes_noted_;         // likewise
};

}  // namespace idletune::journal
