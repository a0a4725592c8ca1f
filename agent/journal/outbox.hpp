// What a journal has to write, and how it reaches the storage.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <idletune/result.hpp>

#include "agent/journal/deaths.hpp"
#include "agent/journal/entries.hpp"
#include "agent/journal/log_file.hpp"
#include "agent/journal/state.hpp"
#include "platform/os/storage.hpp"

namespace idletune {
class EventSink;
}

namespace idletune::journal {

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
  EventSink* events = nullptr;  // outlives the journal
  // Only look: nothing is written, no lock is taken, and open trials stay open: the agent may be
  // running, with one of them under way.
  bool read_only = false;
};

// Counts what was recorded; see Journal::durable().
using Serial = std::uint64_t;

// What a journal has to write, in the hands of any one thread: once, and nothing else may be asked
// of the journal's storage meanwhile.
class JournalWrite {
 public:
  void run();

 private:
  friend class Outbox;
  std::shared_ptr<LogFile> log_;
  LogRecords records_;
  LogRecords all_;  // into a fresh file, if `fresh_`; `records_` into the old one if not
  bool fresh_ = false;
  bool sync_ = false;
  Serial serial_ = 0;
  bool replaced_ = false;
  Status not_replaced_;  // why; the old file goes on
  Status status_;
};

// Something to do at most this often, and not at once: the first question begins.
class Interval {
 public:
  explicit Interval(std::chrono::nanoseconds length) : length_(length) {}
  void begin_anew() { begun_ = false; }
  bool has_passed(std::chrono::nanoseconds now);

 private:
  std::chrono::nanoseconds length_;
  std::chrono::nanoseconds until_{0};
  bool begun_ = false;
};

// Of one journal, on whose state it looks; one thread at a time, as that.
class Outbox {
 public:
  Outbox(std::unique_ptr<Storage> storage, const JournalOptions& options, const State& state);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // From now on recording changes what is known and nothing else: whoever calls take() lets a
  // thread of its choice run what it gets (recording may go on meanwhile) and hands it back.
  void defer() { defers_ = true; }
  // Null: there is nothing to write, or a write is out.
  std::unique_ptr<JournalWrite> take();
  void written(std::unique_ptr<JournalWrite> write);

  // Size of the log file in bytes, and syncs of the file and of the folder since opening; as of the
  // last write.
  std::uint64_t file_bytes() const { return file_bytes_; }
  std::uint64_t file_syncs() const { return file_syncs_; }
  std::uint64_t folder_syncs() const { return folder_syncs_; }
  bool displaced() const { return displaced_; }  // the log was deleted or replaced while in use

 private:
  friend class Journal;
  const Status& status() const { return status_; }
  bool durable(Serial serial) const { return !keeps_ || serial <= durable_; }
  Serial recorded() const { return recorded_; }
  Serial due() const { return due_; }

  // Nothing is written before begin().
  Storage* storage() const { return log_ == nullptr ? nullptr : log_->storage(); }
  bool sealed() const { return sealed_; }
  void go_on(std::uint64_t generation, std::uint64_t size_bytes, bool torn);
  void begin(bool fresh);

  void add(RecordType type, Payload payload);
  Serial sync_soon();  // what was added until now
  // Of these the newest counts; written with post_notes(), and by note_soon() when it is time.
  void note_ledger() { ledger_noted_ = true; }
  void note_shape(const TrialKey& key, Payload payload);
  void note_soon(std::chrono::nanoseconds now);
  void post_notes();
  Status sync();
  Status compact();
  void retry(std::chrono::nanoseconds now);

  void post(RecordType type, Payload payload);
  bool is_large() const;
  void settle();
  void degrade(Status status, bool for_good);

  std::shared_ptr<LogFile> log_;  // a write's while one is out; null: there is no storage
  const State& state_;
  std::uint64_t max_file_bytes_;
  Status status_;
  LogRecords records_;
  std::uint64_t bytes_ = 0;  // of these
  bool keeps_ = false;       // records reach the storage, or will
  bool sealed_ = false;      // the storage is never written again
  bool defers_ = true;       // somebody else writes
  bool writing_ = false;     // a write is out
  bool fresh_due_ = false;   // all that is known goes into a fresh file
  bool displaced_ = false;
  Serial recorded_ = 1;  // of the newest record
  Serial due_ = 0;       // up to here a sync is due
  Serial durable_ = 0;   // up to here everything is on the medium
  std::uint64_t file_bytes_ = 0;
  std::uint64_t file_syncs_ = 0;
  std::uint64_t folder_syncs_ = 0;
  std::uint64_t compact_at_bytes_ = 0;
  Interval retries_;
  Interval notes_;
  bool ledger_noted_ = false;  // newer than the file's
  Table shapes_noted_;         // likewise
};

}  // namespace idletune::journal
