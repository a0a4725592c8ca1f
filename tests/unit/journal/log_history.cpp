#include "tests/unit/journal/log_history.hpp"

#include <algorithm>

#include "agent/journal/journal.hpp"
#include "agent/journal/summary.hpp"
#include "models/core/digest.hpp"

namespace idletune::journal {
namespace {

std::uint64_t record_digest(const RecordView& record) {
  return Digest()
      .add(std::uint64_t{record.type})
      .add(std::uint64_t{record.version})
      .add(record.payload)
      .value();
}

}  // namespace

Found look_at(const test::Files& files) {
  // Cuts leave the same log many times.
  static std::map<test::Content, Found> seen;
  const auto file = files.find(kJournalName);
  if (file == files.end()) return {State().digest(), {}, true};
  if (seen.size() > 10000) seen.clear();
  const auto [entry, is_new] = seen.try_emplace(file->second);
  Found& found = entry->second;
  if (!is_new) return found;
  const auto summary = read_journal(file->second);
  found.readable = summary.ok();
  if (!summary.ok()) return found;
  found.state = summary->state.digest();
  (void)for_each_record(file->second, [&](const RecordView& record) {
    found.records.push_back(record_digest(record));
  });
  return found;
}

History::History(const Disk& disk) : inodes_(disk.first_inodes), folder_(disk.first_folder) {
  collect(0);
  for (std::size_t i = 0; i < disk.operations.size(); ++i) {
    if (replay(disk.operations[i])) collect(i + 1);
  }
}

bool History::allows(std::uint64_t state, std::size_t position, const Promises& promises) const {
  std::size_t acknowledged = 0;
  for (std::size_t at : promises.acknowledged) {
    if (at <= position) acknowledged = std::max(acknowledged, at);
  }
  std::size_t first = 0;
  while (first + 1 < states_.size() && states_[first + 1].position <= acknowledged) ++first;
  for (std::size_t i = first; i < states_.size() && states_[i].position <= position; ++i) {
    if (states_[i].digest == state) return true;
  }
  return false;
}

bool History::replay(const test::DiskOperation& operation) {
  using Kind = test::DiskOperation::Kind;
  switch (operation.kind) {
    case Kind::write: {
      test::Content& content = inodes_[operation.inode];
      content.insert(content.end(), operation.data.begin(), operation.data.end());
      break;
    }
    case Kind::truncate: inodes_[operation.inode].resize(operation.size); break;
    case Kind::link: folder_[operation.name] = operation.inode; break;
    case Kind::rename:
      folder_[operation.target] = folder_.at(operation.name);
      folder_.erase(operation.name);
      break;
    case Kind::remove: folder_.erase(operation.name); break;
    default: return false;
  }
  return true;
}

void History::collect(std::size_t position) {
  test::Files files;
  const auto log = folder_.find(kJournalName);
  if (log != folder_.end()) files[kJournalName] = inodes_[log->second];
  const Found found = look_at(files);
  if (!found.readable) return;
  records_.insert(found.records.begin(), found.records.end());
  if (states_.empty() || states_.back().digest != found.state) {
    states_.push_back({position, found.state});
  }
}

bool all_written(const Found& found, const History& history) {
  return std::all_of(found.records.begin(), found.records.end(),
                     [&](std::uint64_t record) { return history.was_written(record); });
}

}  // namespace idletune::journal
