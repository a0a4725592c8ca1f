#include "agent/journal/log_file.hpp"

#include <utility>

namespace idletune::journal {

// Before anything is appended, the file must really end where the good records end (or the bytes
// after them might come to life again), and the folder must really name this file (the last session
// may have been killed between a compaction's rename and the sync of the folder).
Status LogFile::go_on(std::uint64_t generation, std::uint64_t size_bytes, bool torn) {
  generation_ = generation;
  Status status;
  if (torn) status = storage_->truncate(kJournalName, size_bytes);
  if (status.ok()) status = sync_folder();
  if (!status.ok()) return status;
  Result<std::unique_ptr<AppendFile>> file = storage_->open_append(kJournalName);
  if (!file.ok()) return file.status();
  (void)storage_->remove(kCompactionName);  // left over where a compaction was cut
  file_ = std::move(*file);
  bytes_ = size_bytes;
  return {};
}

Status LogFile::append(const LogRecords& records) {
  if (records.empty()) return {};
  Status status;
  const std::uint64_t own = file_->identity();  // 0: nobody can tell
  if (own != 0 && storage_->identity_of(kJournalName) != own) {
    displaced_ = true;
    ours_ = std::move(file_);
    status = {StatusCode::not_found, "the journal was deleted or replaced while it was in use"};
  }
  for (const LogRecord& record : records) {
    if (!status.ok()) break;
    Payload bytes;
    append_record(record.type, record.version, record.payload, generation_, bytes_, bytes);
    status = file_->append(bytes);
    bytes_ += bytes.size();
  }
  if (!status.ok()) close();
  return status;
}

Status LogFile::sync() {
  ++file_syncs_;
  Status status = file_->sync();
  // A later sync may succeed without having written it.
  if (!status.ok()) close();
  return status;
}

Status LogFile::sync_folder() {
  ++folder_syncs_;
  return storage_->sync_folder();
}

Status LogFile::replace(const LogRecords& all) {
  if (displaced_) {
    if (Status found = find_new_place(); !found.ok()) return found;
  }
  Payload bytes;
  append_file_header({kFormatVersion, generation_ + 1}, bytes);
  for (const LogRecord& record : all) {
    append_record(record.type, record.version, record.payload, generation_ + 1, bytes.size(),
                  bytes);
  }
  Replacement fresh = replace_whole(*storage_, kCompactionName, kJournalName, bytes);
  if (!fresh.status.ok()) {
    // Without a file the folder is gone.
    displaced_ = fresh.file == nullptr && fresh.status.code() == StatusCode::not_found;
    if (!fresh.settled) close();
    return fresh.status;
  }
  ++file_syncs_;
  ++folder_syncs_;
  file_ = std::move(fresh.file);
  ++generation_;
  bytes_ = bytes.size();
  return {};
}

// Whoever put another log in the place of ours wants that one; ours itself may only have been away.
Status LogFile::find_new_place() {
  if (Status opened = storage_->open_again(); !opened.ok()) return opened;
  displaced_ = false;
  const std::uint64_t there = storage_->identity_of(kJournalName);
  const bool is_ours = ours_ != nullptr && ours_->identity() == there;
  ours_.reset();
  if (there == 0 || is_ours) return {};
  lost_ = true;
  close();
  return {StatusCode::busy, "another journal was put in the place of the one in use"};
}

}  // namespace idletune::journal
