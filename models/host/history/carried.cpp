#include "models/host/history/carried.hpp"

#include <cmath>
#include <cstdint>

#include "models/host/history/json_cells.hpp"

namespace idletune {

namespace {

using Json = nlohmann::ordered_json;

bool read_texts(const Json* list, std::vector<std::string>& texts) {
  if (list == nullptr) return true;
  if (!list->is_array()) return false;
  for (const Json& text : *list) {
    if (!text.is_string()) return false;
    texts.push_back(text.get<std::string>());
  }
  return true;
}

bool read_notes(const Json* list, std::vector<std::pair<std::string, std::string>>& notes) {
  if (list == nullptr) return true;
  if (!list->is_array()) return false;
  for (const Json& note : *list) {
    const bool pair =
        note.is_array() && note.size() == 2 && note[0].is_string() && note[1].is_string();
    if (!pair) return false;
    notes.emplace_back(note[0].get<std::string>(), note[1].get<std::string>());
  }
  return true;
}

bool read_features(const Json* list, Shape& shape) {
  if (list == nullptr) return true;
  if (!list->is_array() || list->size() > kMaxFeatures) return false;
  for (const Json& feature : *list) {
    if (!feature.is_number() || !(feature.get<double>() >= 0)) return false;
  }
  for (const Json& feature : *list) shape.push_feature(feature.get<double>());
  return true;
}

bool status_from_name(const std::string& name, TrialStatus& status) {
  for (std::size_t s = 0; s < kTrialStatusCount; ++s) {
    if (name == trial_status_name(static_cast<TrialStatus>(s))) {
      status = static_cast<TrialStatus>(s);
      return true;
    }
  }
  return false;
}

}  // namespace

Json carried_of(const History& history) {
  Json notes = Json::array();
  for (const auto& [key, text] : history.notes) notes.push_back(Json::array({key, text}));
  Json carried = {{"version", 1}};
  if (!history.driver.empty()) carried["driver"] = history.driver;
  if (history.valid_count > 0) carried["valid_count"] = history.valid_count;
  if (!history.constraints.empty()) carried["constraints"] = history.constraints;
  if (!history.inputs.empty()) carried["inputs"] = history.inputs;
  for (std::size_t f = 0; f < history.shape.feature_count(); ++f)
    carried["features"].push_back(history.shape.feature(f));
  carried["notes"] = std::move(notes);
  carried["warnings"] = history.warnings;
  return carried;
}

void restore_carried(const Json& carried, HistoryBuilder& builder) {
  History& history = builder.history();
  bool good = carried.is_object();
  if (good) {
    if (const Json* driver = member_of(carried, "driver")) {
      good = driver->is_string();
      if (good) history.driver = driver->get<std::string>();
    }
    if (const Json* count = member_of(carried, "valid_count")) {
      if (count->is_number_unsigned()) history.valid_count = count->get<std::uint64_t>();
      good = good && count->is_number_unsigned();
    }
    std::vector<std::string> added;
    std::vector<std::string> warnings;
    good = read_texts(member_of(carried, kCarriedAdded), added) && good;
    for (const std::string& name : added) builder.drop_extra(name);
    good = read_texts(member_of(carried, "constraints"), history.constraints) && good;
    good = read_texts(member_of(carried, "inputs"), history.inputs) && good;
    good = read_features(member_of(carried, "features"), history.shape) && good;
    good = read_texts(member_of(carried, "warnings"), warnings) && good;
    good = read_notes(member_of(carried, "notes"), history.notes) && good;
    for (const std::string& warning : warnings) builder.warn(warning);
  }
  builder.expect_missing_compile_times();  // the exported history's warnings speak of them
  if (!good) builder.warn("the member \"idletune\" is not as we write it: took what was usable");
}

const char* word_of_status(TrialStatus status) {
  switch (status) {
    case TrialStatus::compile: return "CompilationFailedConfig";
    case TrialStatus::constraints: return "InvalidConfig";
    default: return "RuntimeFailedConfig";
  }
}

ExportedOutcome outcome_of(const History& history, std::size_t row, const CellColumn* time_extra) {
  ExportedOutcome outcome;
  const bool has_extra = time_extra != nullptr && time_extra->kind(row) != CellKind::absent;
  if (history.correct(row)) {
    outcome.time = history.run_time[row];
    if (has_extra)
      outcome.carried = {{kCarriedStatus, "correct"}, {kCarriedTime, json_of(*time_extra, row)}};
    return outcome;
  }
  const TrialStatus status = history.status[row];
  if (has_extra && time_extra->kind(row) == CellKind::text) {
    bool known = true;
    outcome.time = time_extra->text(row);
    if (status_of_word(time_extra->text(row), known) == status && known) return outcome;
  }
  outcome.time = word_of_status(status);
  outcome.carried.emplace_back(kCarriedStatus, trial_status_name(status));
  if (has_extra) outcome.carried.emplace_back(kCarriedTime, json_of(*time_extra, row));
  return outcome;
}

bool restore_outcome(const Json& record, ImportedRow& row) {
  const Json* name = member_of(record, kCarriedStatus);
  TrialStatus status = TrialStatus::correct;
  if (name == nullptr || !name->is_string() || !status_from_name(name->get<std::string>(), status))
    return false;
  if (status == TrialStatus::correct && std::isnan(row.run_time)) return false;
  row.status = status;
  if (const Json* time = member_of(record, kCarriedTime)) row.extras.emplace_back("time", *time);
  return true;
}

const CellColumn* extra_named(const History& history, const std::string& name) {
  for (const CellColumn& column : history.extras) {
    if (column.name() == name) return &column;
  }
  return nullptr;
}

}  // namespace idletune
