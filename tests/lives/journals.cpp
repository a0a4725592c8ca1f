#include "tests/lives/journals.hpp"

#include <algorithm>

#include "agent/journal/codec.hpp"
#include "agent/journal/journal.hpp"
#include "agent/journal/summary.hpp"

namespace idletune::lives {

const journal::State& JournalReader::read(Bytes journal) {
  const auto header = journal::read_file_header(journal);
  if (!header.ok() || generation_ != header->generation || read_ > journal.size()) {
    generation_ = header.ok() ? header->generation : 0;
    read_ = journal::kFileHeaderBytes;
    state_ = journal::State();
  }
  if (!header.ok()) return state_;
  journal::RecordReader reader(journal, generation_, read_);
  for (journal::RecordView record; reader.next(record);)
    (void)state_.apply(record.type, record.version, record.payload);
  read_ = reader.offset();
  return state_;
}

std::vector<Configuration> announced_at_end_of(const test::Files& files, std::size_t bytes) {
  std::vector<Configuration> all;
  const auto file = files.find(journal::kJournalName);
  if (file == files.end()) return all;
  const std::size_t from = file->second.size() - std::min(bytes, file->second.size());
  if (const auto before = journal::read_journal({file->second.data(), from}); before.ok())
    for (const auto& open : before->state.dangers().open_trials())
      all.push_back(open.trial.configuration);
  (void)journal::for_each_record(file->second, [&](const journal::RecordView& record) {
    journal::Intent intent;
    if (record.offset >= from && record.type == static_cast<int>(journal::RecordType::intent) &&
        journal::decode(record.payload, intent))
      all.push_back(intent.trial.configuration);
  });
  return all;
}

std::list<journal::Dangers::OpenTrial> open_trials_in(const test::Files& files) {
  const auto file = files.find(journal::kJournalName);
  if (file == files.end()) return {};
  const auto summary = journal::read_journal(file->second);
  return summary.ok() ? summary->state.dangers().open_trials()
                      : std::list<journal::Dangers::OpenTrial>();
}

}  // namespace idletune::lives
