// How what was recorded reaches the storage.
#include <algorithm>
#include <utility>

#include "agent/journal/journal.hpp"
#include "models/core/lists.hpp"

namespace idletune::journal {
namespace {

constexpr std::uint64_t kSmallFileBytes = 64u << 10;  // not worth compacting
constexpr std::uint64_t kLiveFactor = 4;              // file size over live size that is

}  // namespace

void Journal::record(RecordType type, Payload payload) {
  (void)state_.apply(static_cast<std::uint8_t>(type), kRecordVersion, payload);
  post(type, std::move(payload));
  if (!defers_) settle();
}

void Journal::post(RecordType type, Payload payload) {
  ++recorded_;
  if (!keeps_) return;
  outbox_bytes_ += kRecordHeaderBytes + payload.size();
  push(outbox_, LogRecord{static_cast<std::uint8_t>(type), kRecordVersion, std::move(payload)});
}

void Journal::post_notes() {
  if (ledger_noted_) post(RecordType::ledger, encode(state_.ledger()));
  ledger_noted_ = false;
  for (const auto& shape : shapes_noted_.entries()) {
    post(RecordType::shape_statistics, shape.second.payload);
  }
  shapes_noted_ = Table();
}

Serial Journal::sync_record() {
  due_ = recorded_;
  if (!defers_) settle();
  return due_;
}

bool Journal::is_large() const {
  const std::uint64_t large = std::min(std::max(kSmallFileBytes, kLiveFactor * state_.live_bytes()),
                                       options_.max_file_bytes);
  return !outbox_.empty() && file_bytes_ + outbox_bytes_ > std::max(large, compact_at_bytes_);
}

std::unique_ptr<JournalWrite> Journal::take_outbox() {
  if (writing_ || sealed_ || (!keeps_ && !fresh_due_)) return nullptr;
  auto write = std::make_unique<JournalWrite>();
  write->fresh_ = fresh_due_ || is_large();
  write->sync_ = due_ > durable_;
  if (!write->fresh_ && !write->sync_ && outbox_.empty()) return nullptr;
  if (write->fresh_) {
    post_notes();
    state_.for_each_live_record([&](std::uint8_t type, std::uint8_t version, Bytes payload) {
      push(write->all_, LogRecord{type, version, copy(payload)});
    });
  }
  write->log_ = log_;
  write->records_ = std::move(outbox_);
  write->serial_ = recorded_;
  outbox_.clear();
  outbox_bytes_ = 0;
  fresh_due_ = false;
  writing_ = true;
  return write;
}

void JournalWrite::run() {
  if (fresh_) {
    status_ = log_->replace(all_);
    replaced_ = status_.ok();
    if (replaced_ || !log_->writable()) return;
    // No room for a second file. The log goes on as it is, as long as it may.
    not_replaced_ = std::move(status_);
  }
  status_ = log_->append(records_);
  if (status_.ok() && sync_) status_ = log_->sync();
}

void Journal::written(std::unique_ptr<JournalWrite> write) {
  writing_ = false;
  file_bytes_ = log_->bytes();
  file_syncs_ = log_->file_syncs();
  folder_syncs_ = log_->folder_syncs();
  recovery_.displaced = recovery_.displaced || log_->displaced();
  if (write->replaced_) {
    keeps_ = true;
    storage_status_ = Status();
    compact_at_bytes_ = 0;
    durable_ = write->serial_;
    return;
  }
  if (!write->status_.ok()) {
    // Nothing may be appended to a log that failed. Everything that it should hold is in memory.
    const bool tried_fresh = write->fresh_ && write->not_replaced_.ok();
    if (tried_fresh) return degrade(std::move(write->status_), log_->lost());
    fresh_due_ = true;
    return;
  }
  if (write->sync_) durable_ = write->serial_;
  if (write->not_replaced_.ok()) return;
  if (file_bytes_ > options_.max_file_bytes) return degrade(std::move(write->not_replaced_), false);
  compact_at_bytes_ = file_bytes_ + kSmallFileBytes;
}

void Journal::settle() {
  while (std::unique_ptr<JournalWrite> write = take_outbox()) {
    write->run();
    written(std::move(write));
  }
}

Status Journal::sync() {
  if (writing_) return {StatusCode::busy, "the journal is being written"};
  due_ = recorded_;
  settle();
  return storage_status_;
}

Status Journal::flush() {
  post_notes();
  return sync();
}

Status Journal::compact() {
  if (writing_) return {StatusCode::busy, "the journal is being written"};
  if (sealed_) return storage_status_;
  fresh_due_ = true;
  std::unique_ptr<JournalWrite> write = take_outbox();
  write->run();
  Status status = write->not_replaced_.ok() ? write->status_ : write->not_replaced_;
  written(std::move(write));
  settle();
  return status;
}

void Journal::retry_storage(std::chrono::nanoseconds now) {
  if (sealed_ || keeps_ || writing_) return;
  if (!retry_at_known_) {
    retry_at_known_ = true;
    retry_at_ = now + options_.retry_interval;
  }
  if (now < retry_at_) return;
  retry_at_ = now + options_.retry_interval;
  fresh_due_ = true;
  if (!defers_) settle();
}

Status Journal::shutdown() {
  post_notes();
  record(RecordType::clean_shutdown, Payload());
  return sync();
}

void Journal::degrade(Status status, bool for_good) {
  if (log_ != nullptr) log_->close();
  keeps_ = false;
  outbox_.clear();
  outbox_bytes_ = 0;
  if (sealed_) return;  // the first reason stays
  storage_status_ = std::move(status);
  sealed_ = for_good;
  retry_at_known_ = false;
}

}  // namespace idletune::journal
