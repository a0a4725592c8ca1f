// What this board measured, decided and quarantined, kept through power cuts (README.md: the bytes,
// the syncs, what "acknowledged" means).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/result.hpp>

#include "agent/journal/deaths.hpp"
#include "agent/journal/entries.hpp"
#include "agent/journal/outbox.hpp"
#include "agent/journal/state.hpp"
#include "platform/os/storage.hpp"

namespace idletune::journal {

inline constexpr char kSetAsideName[] =
    "journal.unreadable";  // one we could not read; kept for people

// What opening found.
struct RecoveryReport {
  std::uint64_t malformed_records = 0;  // right checksum, impossible content; skipped
  std::uint64_t dropped_bytes = 0;      // after the last good record: torn by a cut
  Status unreadable;                    // why nothing of the file could be read; ok if it could
  bool set_aside = false;               // an unreadable file was renamed to kSetAsideName
  std::uint32_t new_suspects = 0;       // configurations suspected because of how the last session
  std::uint32_t new_quarantines = 0;    // ended, and quarantined: it was their second death
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
  // Ok, or in one line what was lost: a whole file that is unreadable (its code), records whose
  // content is impossible (corrupt), a log that somebody took away (not_found). A torn end is not
  // lost: nobody was promised it.
  Status damage() const;
  // Success while records reach the storage; else why they do not: not_found, read_only, no_space,
  // io_error, busy (another process has the journal: what it knew at our opening is used),
  // version_mismatch (a newer agent wrote it, and may come back: nothing of it is used or changed).
  const Status& storage_status() const { return outbox_.status(); }

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
  // Takes the place of what State::models() says. Synced.
  void models(Bytes record);
  // The newest cumulative figures; those that changed (a shape's with its launches) are written
  // when note_interval of the tuner's clock `now` has passed since the last writing, and by flush()
  // and shutdown(). The state shows them at once.
  void note_ledger(const Ledger& ledger, std::chrono::nanoseconds now);
  void note_shape(const ShapeStatistics& statistics, std::chrono::nanoseconds now);

  // --- Storage -----------------------------------------------------------------------------------
  // Whether all up to there is on the medium, or the journal lives in memory: then only this
  // process will remember.
  bool durable(Serial serial) const { return outbox_.durable(serial); }
  // Success: all that was recorded before is on the medium ("acknowledged"). Else storage_status();
  // busy while a write is out.
  Status sync() { return outbox_.sync(); }
  // The same of whoever writes in a thread of its own: see durable().
  Serial sync_soon() { return outbox_.sync_soon(); }
  // As sync(), with the notes.
  Status flush();
  // Tries a failed storage again if retry_interval has passed (a compaction into a fresh file).
  // Cheap when there is nothing to do; the agent calls it now and then. A journal that another
  // process had at our opening, that could not be read, or that is a newer agent's, stays in memory
  // for good.
  void retry_storage(std::chrono::nanoseconds now) { outbox_.retry(now); }
  // Writes the live state alone into a fresh file and replaces the log with it. Happens by itself
  // when the file passes max(64 KiB, 4 times its live size) or max_file_bytes.
  Status compact() { return outbox_.compact(); }
  // Writes pending notes and the clean-shutdown mark, and syncs. Recording may go on afterwards.
  Status shutdown();
  // For whoever writes in a thread of its own, and what was written. While a write is out, call
  // none of sync, flush, compact and shutdown.
  Outbox& outbox() { return outbox_; }

 private:
  Journal(std::unique_ptr<Storage> storage, const JournalOptions& options);
  void load(Status no_storage);
  bool replay_file(Storage& storage);
  void judge_open_trials();
  bool accuse_one(const Verdict& verdict);
  template <class Value>
  void record(const Value& value) {
    record(Value::kType, &value);
  }
  void record(RecordType type, const void* value);
  void add(RecordType type, Payload payload);

  JournalOptions options_;
  State state_;
  RecoveryReport recovery_;
  Outbox outbox_;
};

}  // namespace idletune::journal
