// What a history knows beyond what an ecosystem's format has a place for: exporters put it into one
// object named "idletune" beside the format's own members, importers take it back from there. Other
// tools ignore it. See models/host/history/README.md.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/host/history/history.hpp"
#include "models/host/history/history_builder.hpp"

namespace idletune {

inline constexpr const char* kCarriedMember = "idletune";
// In that object: the extras that the exporter made up because the format wants them.
inline constexpr const char* kCarriedAdded = "added";
// In the record of a configuration, where the format's own members would give another status, or
// another extra "time".
inline constexpr const char* kCarriedStatus = "idletune_status";
inline constexpr const char* kCarriedTime = "idletune_time";

// Driver, constraints, size of the space, names of the inputs, features, notes and warnings.
nlohmann::ordered_json carried_of(const History& history);

// Puts them back. Whatever does not have the expected form is left out, with a warning.
void restore_carried(const nlohmann::ordered_json& carried, HistoryBuilder& builder);

// The word that Kernel Tuner writes for a time of a configuration with this status.
const char* word_of_status(TrialStatus status);

// What a record says about the outcome of a history's row: the value for its time, and what has to
// be carried beside it so that `restore_outcome` gives the same back.
struct ExportedOutcome {
  nlohmann::ordered_json time;
  std::vector<std::pair<std::string, nlohmann::ordered_json>> carried;
};
ExportedOutcome outcome_of(const History& history, std::size_t row, const CellColumn* time_extra);

// If the record has carried members: sets the row's status and extra "time" from them. Returns
// false if it has none. The row must not have an extra "time" yet.
bool restore_outcome(const nlohmann::ordered_json& record, ImportedRow& row);

// The extra column of that name, or null.
const CellColumn* extra_named(const History& history, const std::string& name);

}  // namespace idletune
