// The model on trial, judged where no agent is there to do it.
#include <idletune/text.hpp>

#include <utility>

#include "agent/board_command/lock_holder.hpp"
#include "agent/board_command/state_folder.hpp"
#include "agent/board_command/verbs.hpp"
#include "agent/journal/log_file.hpp"

namespace idletune::board {
namespace {

Status locked_by(const std::string& state, const Status& busy) {
  const long process = lock_holder(state);
  if (busy.code() != StatusCode::busy || process == 0) return busy;
  return Status(StatusCode::busy, "%: process %, which can judge the model itself", busy.message(),
                process);
}

// One record behind the others. No session begins and no death is judged: what the next agent finds
// out at its start stays its own to find.
Status append_models(std::unique_ptr<Storage> storage, const journal::JournalSummary& summary,
                     const slots::SlotRecord& models) {
  journal::LogFile log(std::move(storage));
  Status status =
      log.go_on(summary.header.generation, summary.valid_bytes, summary.dropped_bytes() > 0);
  if (!status.ok()) return status;
  journal::LogRecords records(1);
  records.back().type = static_cast<std::uint8_t>(journal::RecordType::models);
  records.back().payload = models.encode();
  if (summary.state.ended_cleanly()) {  // and still has
    records.emplace_back();
    records.back().type = static_cast<std::uint8_t>(journal::RecordType::clean_shutdown);
  }
  status = log.append(records);
  return status.ok() ? log.sync() : status;
}

Status judge(const Call& call, bool confirmed, Facts& answer) {
  const std::string state = call.word(0);
  // Before anything is opened to be written, which makes what is missing.
  if (const auto there = journal_bytes(state); !there.ok()) return there.status();
  Result<std::unique_ptr<Storage>> storage = open_posix_storage(state);
  if (!storage.ok()) return storage.status();
  if (Status locked = (*storage)->lock(); !locked.ok()) return locked_by(state, locked);
  const auto bytes = (*storage)->read(journal::kJournalName, journal::kMaxFileBytes);
  if (!bytes.ok()) return bytes.status();
  const Result<journal::JournalSummary> summary = journal_in(state, *bytes);
  if (!summary.ok()) return summary.status();
  Result<slots::SlotRecord> models = models_in(state, *summary);
  if (!models.ok()) return models.status();
  if (!models->trial.is_there())
    return Status(StatusCode::not_found, "'%': no model is on trial", state);
  if (confirmed) {
    models->confirm();
  } else {
    models->refute_trial(call.words.size() > 1 ? call.words[1] : "rejected by idletune-board");
  }
  if (Status kept = append_models(std::move(*storage), *summary, *models); !kept.ok()) return kept;
  tell_models(*models, answer);
  return {};
}

}  // namespace

Status confirm_model(const Call& call, Facts& answer) { return judge(call, true, answer); }

Status reject_model(const Call& call, Facts& answer) { return judge(call, false, answer); }

}  // namespace idletune::board
