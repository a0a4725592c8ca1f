// The journal's log on its storage: records go to its end, or all that is known into a fresh one.
#pragma once

#include <cstdint>
#include <memory>

#include <idletune/result.hpp>

#include "agent/journal/record.hpp"
#include "platform/os/storage.hpp"

namespace idletune::journal {

inline constexpr char kJournalName[] = "journal";         // the log, in the state folder
inline constexpr char kCompactionName[] = "journal.new";  // the next log while it is written

// One thread at a time. After an error of append() or sync() nothing more is written to the file:
// nobody knows what it holds.
class LogFile {
 public:
  explicit LogFile(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}

  Storage* storage() const { return storage_.get(); }  // null: there is none
  bool writable() const { return file_ != nullptr; }
  // Goes on with a log of which everything up to `size_bytes` is good, and `torn` bytes follow.
  Status go_on(std::uint64_t generation, std::uint64_t size_bytes, bool torn);
  // One write for each record. not_found: the log was deleted or replaced while it was in use.
  Status append(const LogRecords& records);
  Status sync();
  // All records into kCompactionName, synced, then over kJournalName, then the folder synced. After
  // an error before the renaming an old file is untouched and goes on; after a later one nobody
  // knows which of the two the medium has, and there is no file any more.
  Status replace(const LogRecords& all);
  void close() { file_.reset(); }

  bool displaced() const { return displaced_; }  // the folder's path leads elsewhere by now
  bool lost() const { return lost_; }            // to another journal, for good
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t file_syncs() const { return file_syncs_; }
  std::uint64_t folder_syncs() const { return folder_syncs_; }

 private:
  Status sync_folder();
  Status find_new_place();

  std::unique_ptr<Storage> storage_;
  std::unique_ptr<AppendFile> file_;
  // Where it is displaced: no other file gets its identity while it is open.
  std::unique_ptr<AppendFile> ours_;
  std::uint64_t generation_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t file_syncs_ = 0;
  std::uint64_t folder_syncs_ = 0;
  bool displaced_ = false;
  bool lost_ = false;
};

}  // namespace idletune::journal
