// The state folder of an agent, as its journal has it.
#pragma once

#include <string>
#include <vector>

#include <idletune/result.hpp>

#include "agent/board_command/facts.hpp"
#include "agent/journal/summary.hpp"
#include "agent/slots/slot_record.hpp"

namespace idletune::board {

// Its bytes. Errors: not_found (no agent has run there) and those of reading, with its name.
Result<std::vector<std::uint8_t>> journal_bytes(const std::string& state);
// Read as far as it is good. Errors: corrupt, version_mismatch, with its name.
Result<journal::JournalSummary> journal_in(const std::string& state, Bytes bytes);
struct KeptJournal {
  std::vector<std::uint8_t> bytes;
  journal::JournalSummary summary;
};
Result<KeptJournal> kept_journal(const std::string& state);  // both
// What it says of models. Error: not_found (nothing was ever pushed here, or a version that says it
// in another way).
Result<slots::SlotRecord> models_in(const std::string& state,
                                    const journal::JournalSummary& summary);
// Confirmed, on trial, starts left, lowest generation, refuted.
void tell_models(const slots::SlotRecord& models, Facts& answer);

}  // namespace idletune::board
