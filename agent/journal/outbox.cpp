#include <algorithm>
#include <utility>

#include "agent/journal/outbox.hpp"

namespace idletune::journal {
namespace {

constexpr std::uint64_t kSmallFileBytes = 64u << 10;  // not worth compacting
constexpr std::uint64_t kLiveFactor = 4;              // file size over live size that is

}  // namespace

bool Interval::has_passed(std::chrono::nanoseconds now) {
  if (!begun_) until_ = now + length_;
  begun_ = true;
  if (now < until_) return false;
  until_ = now + length_;
  return true;
}

Outbox::Outbox(std::unique_ptr<Storage> storage, const JournalOptions& options, const State& state)
    : log_(storage == nullptr ? nullptr : std::make_shared<LogFile>(std::move(storage))),
      state_(state),
      max_file_bytes_(options.max_file_bytes),
      retries_(options.retry_interval),
      notes_(options.note_interval) {}

void Outbox::go_on(std::uint64_t generation, std::uint64_t size_bytes, bool torn) {
  if (Status going_on = log_->go_on(generation, size_bytes, torn); !going_on.ok()) {
    return degrade(std::move(going_on), false);
  }
  keeps_ = true;
  ++recorded_;  // what a killed session appended may still be in the page cache alone
}

void Outbox::begin(bool fresh) {
  fresh_due_ = fresh && !sealed_;
  defers_ = false;
  (void)sync();
}

void Outbox::add(RecordType type, Payload payload) {
  post(type, std::move(payload));
  if (!defers_) settle();
}

void Outbox::post(RecordType type, Payload payload) {
  ++recorded_;
  if (!keeps_ && !writing_) return;
  bytes_ += kRecordHeaderBytes + payload.size();
  records_.push_back({static_cast<std::uint8_t>(type), kRecordVersion, std::move(payload)});
}

void Outbox::note_shape(const TrialKey& key, Payload payload) {
  shapes_noted_.put(key, payload, kRecordVersion);
}

void Outbox::note_soon(std::chrono::nanoseconds now) {
  if (!ledger_noted_ && shapes_noted_.entries().empty()) return;
  if (!notes_.has_passed(now)) return;
  post_notes();
  if (!defers_) settle();
}

void Outbox::post_notes() {
  if (ledger_noted_) post(RecordType::ledger, encode(state_.ledger()));
  ledger_noted_ = false;
  for (const auto& shape : shapes_noted_.entries()) {
    post(RecordType::shape_statistics, shape.second.payload);
  }
  shapes_noted_ = Table();
}

Serial Outbox::sync_soon() {
  due_ = recorded_;
  if (!defers_) settle();
  return due_;
}

bool Outbox::is_large() const {
  const std::uint64_t large =
      std::min(std::max(kSmallFileBytes, kLiveFactor * state_.live_bytes()), max_file_bytes_);
  return !records_.empty() && file_bytes_ + bytes_ > std::max(large, compact_at_bytes_);
}

std::unique_ptr<JournalWrite> Outbox::take() {
  if (writing_ || sealed_ || (!keeps_ && !fresh_due_)) return nullptr;
  auto write = std::make_unique<JournalWrite>();
  write->fresh_ = fresh_due_ || is_large();
  write->sync_ = due_ > durable_;
  if (!write->fresh_ && !write->sync_ && records_.empty()) return nullptr;
  if (write->fresh_) {
    post_notes();
    state_.for_each_live_record([&](std::uint8_t type, std::uint8_t version, Bytes payload) {
      write->all_.push_back({type, version, copy(payload)});
    });
  }
  write->log_ = log_;
  write->records_ = std::move(records_);
  write->serial_ = recorded_;
  records_.clear();
  bytes_ = 0;
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

void Outbox::written(std::unique_ptr<JournalWrite> write) {
  writing_ = false;
  file_bytes_ = log_->bytes();
  file_syncs_ = log_->file_syncs();
  folder_syncs_ = log_->folder_syncs();
  displaced_ = displaced_ || log_->displaced();
  if (write->replaced_) {
    keeps_ = true;
    status_ = Status();
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
  if (file_bytes_ > max_file_bytes_) return degrade(std::move(write->not_replaced_), false);
  compact_at_bytes_ = file_bytes_ + kSmallFileBytes;
}

void Outbox::settle() {
  while (std::unique_ptr<JournalWrite> write = take()) {
    write->run();
    written(std::move(write));
  }
}

Status Outbox::sync() {
  if (writing_) return {StatusCode::busy, "the journal is being written"};
  due_ = recorded_;
  settle();
  return status_;
}

Status Outbox::compact() {
  if (writing_) return {StatusCode::busy, "the journal is being written"};
  if (sealed_) return status_;
  fresh_due_ = true;
  std::unique_ptr<JournalWrite> write = take();
  write->run();
  Status status = write->not_replaced_.ok() ? write->status_ : write->not_replaced_;
  written(std::move(write));
  settle();
  return status;
}

void Outbox::retry(std::chrono::nanoseconds now) {
  if (sealed_ || keeps_ || writing_ || !retries_.has_passed(now)) return;
  fresh_due_ = true;
  if (!defers_) settle();
}

void Outbox::degrade(Status status, bool for_good) {
  if (log_ != nullptr) log_->close();
  keeps_ = false;
  records_.clear();
  bytes_ = 0;
  if (sealed_) return;  // the first reason stays
  status_ = std::move(status);
  sealed_ = for_good;
  retries_.begin_anew();
}

}  // namespace idletune::journal
