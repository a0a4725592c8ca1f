// Any bytes as a journal file: read, dumped, opened, written to and compacted. Where the checksums
// would stop the fuzzer at the first record, a second run gives its bytes as payloads with right
// checksums.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "agent/events/event_text.hpp"
#include "agent/journal/journal.hpp"
#include "agent/journal/summary.hpp"
#include "agent/slots/slot_record.hpp"

namespace {

using namespace idletune;
using namespace idletune::journal;

using Content = std::vector<std::uint8_t>;

struct MemoryFolder {
  Content log;
  Content fresh;
};

// Just enough of a folder for a journal: the log and the one that is to replace it.
class MemoryFile final : public AppendFile {
 public:
  MemoryFile(std::shared_ptr<MemoryFolder> folder, Content* content)
      : folder_(std::move(folder)), content_(content) {}
  Status append(Bytes data) override {
    content_->insert(content_->end(), data.begin(), data.end());
    return Status();
  }
  Status sync() override { return Status(); }

 private:
  std::shared_ptr<MemoryFolder> folder_;
  Content* content_;
};

class MemoryStorage final : public Storage {
 public:
  explicit MemoryStorage(std::shared_ptr<MemoryFolder> folder) : folder_(std::move(folder)) {}
  Result<Content> read(std::string_view, std::size_t) override { return Content(folder_->log); }
  Result<std::unique_ptr<AppendFile>> open_append(std::string_view) override {
    return std::unique_ptr<AppendFile>(new MemoryFile(folder_, &folder_->log));
  }
  Result<std::unique_ptr<AppendFile>> create(std::string_view) override {
    folder_->fresh.clear();
    return std::unique_ptr<AppendFile>(new MemoryFile(folder_, &folder_->fresh));
  }
  Status rename(std::string_view from, std::string_view) override {
    if (from == kCompactionName) {
      folder_->log = folder_->fresh;
    } else {
      folder_->log.clear();
    }
    return Status();
  }
  Status remove(std::string_view) override { return Status(); }
  Status truncate(std::string_view, std::uint64_t size_bytes) override {
    folder_->log.resize(static_cast<std::size_t>(size_bytes));
    return Status();
  }
  Status sync_folder() override { return Status(); }
  Result<std::vector<std::string>> list() override { return std::vector<std::string>(); }
  Status lock() override { return Status(); }

 private:
  std::shared_ptr<MemoryFolder> folder_;
};

void require(bool holds) {
  if (!holds) std::abort();
}

void query(const State& state) {
  std::size_t count = 0;
  state.for_each_measurement([&](const Measurement& measurement) {
    const ShapeKey key = measurement.trial.shape_key();
    require(state.measurement(measurement.trial.key()).has_value());
    require(state.measurement_count(key) > 0);
    if (state.adoption(key) || state.stale_adoption(key)) ++count;
  });
  state.dangers().for_each_quarantine(
      [&](const Quarantine& q) { require(state.dangers().is_quarantined(q.key)); });
  state.dangers().for_each_suspect([&](const Suspect& s) {
    require(state.dangers().is_suspect(s.key) && s.at.size() <= kMaxDeathPlaces);
    state.dangers().for_each_suspect_of(
        s.trial, [&](const Suspect& other) { require(state.dangers().is_suspect(other.key)); });
    state.dangers().for_each_wrong(
        s.key.kernel, s.key.device, s.key.driver,
        [&](const Wrong& wrong) { require(state.dangers().is_wrong(wrong.trial)); });
  });
  for (const Dangers::OpenTrial& open : state.dangers().open_trials()) {
    require(open.exposed ? state.dangers().is_exposed(open.key, open.place)
                         : state.dangers().open_trial(open.key) != nullptr);
  }
  state.for_each_adoption([&](const Adoption&) { ++count; });
  slots::SlotRecord models;
  if (slots::SlotRecord::decode(state.models(), models)) {
    const Content encoded = models.encode();
    slots::SlotRecord again;
    require(slots::SlotRecord::decode(encoded, again) && again.encode() == encoded);
    require(models.free_slot() != slots::Place::image);
  }
  for (const NameKind kind : {NameKind::device, NameKind::driver, NameKind::kernel}) {
    if (const auto name = state.name(kind, 1)) require(name->digest == 1);
  }
}

// What an application is told of each record.
void tell(Bytes file) {
  State state;
  (void)for_each_record(file, [&](const RecordView& record) {
    Event event;
    const auto type = static_cast<RecordType>(record.type);
    if (event_of(type, record.payload, state, event)) require(!event.text.empty());
    (void)state.apply(record.type, record.version, record.payload);
  });
}

// Whatever the file says, what is in memory after opening it survives a compaction and a new
// opening.
void use(Content file) {
  if (const auto summary = read_journal(file); summary.ok()) {
    require(summary->valid_bytes <= file.size());
    query(summary->state);
    tell(file);
  }
  const auto folder = std::make_shared<MemoryFolder>();
  folder->log = std::move(file);
  JournalOptions options;
  options.boot = 1;
  options.max_file_bytes = 64u << 10;
  const auto journal = Journal::open(std::make_unique<MemoryStorage>(folder), options);
  require(journal->storage_status().ok());
  Intent intent;
  intent.trial.configuration = Configuration{1, 2, 3};
  require(journal->durable(journal->intent(intent)));
  query(journal->state());
  require(journal->compact().ok());
  require(folder->log.size() <= kMaxFileBytes);
  const auto again = read_journal(folder->log);
  require(again.ok() && again->dropped_bytes() == 0 && again->malformed_records == 0);
}

// The bytes as records: type, length, payload, over and over.
Content as_records(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kGeneration = 1;
  Content file;
  append_file_header({kFormatVersion, kGeneration}, file);
  while (size >= 2) {
    const std::uint8_t type = data[0];
    const std::size_t wanted = data[1];
    const std::size_t length = wanted < size - 2 ? wanted : size - 2;
    append_record(type, kRecordVersion, Bytes(data + 2, length), kGeneration, file.size(), file);
    data += 2 + length;
    size -= 2 + length;
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  use(Content(data, data + size));
  use(as_records(data, size));
  return 0;
}
