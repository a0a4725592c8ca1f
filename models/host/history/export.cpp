// T4 results and Kernel Tuner caches. What the formats have no place for goes into members of our
// own, which other tools ignore (carried.hpp).
#include "models/host/history/export.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>
#include <vector>

#include "models/host/history/carried.hpp"
#include "models/host/history/json_cells.hpp"
#include "models/host/history/t4_names.hpp"
#include "models/host/history/time_unit.hpp"

namespace idletune {

namespace {

using Json = nlohmann::ordered_json;

bool is_common_time(const std::string& extra) {
  return std::any_of(std::begin(kT4Times), std::end(kT4Times),
                     [&](const T4Name& n) { return extra == n.extra; });
}

// Adds a member without looking for the key among those there are.
void append(Json& object, const std::string& key, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(key, std::move(value));
}

Json list_of(const Shape& shape) {
  Json list = Json::array();
  for (const std::int64_t dimension : shape.values()) list.push_back(dimension);
  return list;
}

Status check(const History& history) {
  const std::string name = "the history of " + history.kernel + " on " + history.device;
  if (history.rows() == 0)
    return Status(StatusCode::invalid_argument, name + " has no configuration");
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (history.correct(row) &&
        !(std::isfinite(history.run_time[row]) && history.run_time[row] > 0)) {
      return Status(StatusCode::invalid_argument,
                    name + ": row " + std::to_string(row) + " is correct but has no time");
    }
  }
  return Status();
}

Json samples_of(const History& history, const std::vector<std::size_t>& offsets, std::size_t row) {
  Json list = Json::array();
  for (std::size_t i = offsets[row]; i < offsets[row + 1]; ++i) list.push_back(history.samples[i]);
  return list;
}

// What was recorded about the whole in the format that is being written, if the history came from
// it.
Json note_of(const History& history, const char* key) {
  for (const auto& [name, text] : history.notes) {
    if (name != key) continue;
    Json parsed = Json::parse(text, nullptr, false);
    if (parsed.is_object()) return parsed;
  }
  return Json::object();
}

// --- T4 ---

class T4Writer {
 public:
  explicit T4Writer(const History& history)
      : history_(history),
        offsets_(history.sample_offsets()),
        time_extra_(extra_named(history, "time")) {}
  std::string write();

 private:
  Json metadata() const;
  Json result(std::size_t row) const;
  Json times(std::size_t row) const;
  void add_extras(Json& result, Json& measurements, std::size_t row) const;
  bool is_unit(const std::string& extra) const;
  const CellColumn* unit_of(const std::string& measurement) const {
    return extra_named(history_, measurement + kT4UnitSuffix);
  }
  Json measurement(const std::string& name, Json value, std::size_t row) const {
    const CellColumn* unit = unit_of(name);
    const bool has_unit = unit != nullptr && unit->kind(row) == CellKind::text;
    return {{"name", name}, {"value", std::move(value)}, {"unit", has_unit ? unit->text(row) : ""}};
  }

  const History& history_;
  const std::vector<std::size_t> offsets_;
  const CellColumn* time_extra_;
};

Json T4Writer::metadata() const {
  Json metadata = note_of(history_, "t4.metadata");
  metadata["timeunit"] = time_unit_word(history_.nanoseconds_per_unit);
  metadata["kernel_name"] = history_.kernel;
  metadata["device"] = history_.device;
  if (history_.shape.size() > 0) {
    metadata["problem_size"] = list_of(history_.shape);
  } else {
    metadata.erase("problem_size");
  }
  metadata[kCarriedMember] = carried_of(history_);
  Json& added = metadata[kCarriedMember][kCarriedAdded] = Json::array();
  for (const char* required : {"correctness", "objectives"}) {
    if (extra_named(history_, required) == nullptr) added.push_back(required);
  }
  return metadata;
}

Json T4Writer::times(std::size_t row) const {
  Json times = Json::object();
  if (!std::isnan(history_.compile_time[row])) times["compilation"] = history_.compile_time[row];
  for (const T4Name& name : kT4Times) {
    const CellColumn* column = extra_named(history_, name.extra);
    if (column != nullptr && column->kind(row) != CellKind::absent)
      times[name.t4] = json_of(*column, row);
  }
  for (const CellColumn& column : history_.extras) {
    if (column.name().rfind(kT4TimePrefix, 0) != 0 || column.kind(row) == CellKind::absent)
      continue;
    times[column.name().substr(std::string(kT4TimePrefix).size())] = json_of(column, row);
  }
  if (history_.sample_count[row] > 0) {
    times["runtimes"] = samples_of(history_, offsets_, row);
  } else if (const CellColumn* odd = extra_named(history_, "times")) {
    if (odd->kind(row) != CellKind::absent) times["runtimes"] = json_of(*odd, row);
  }
  return times;
}

// Whether the extra is the unit of a measurement, which is written with it.
bool T4Writer::is_unit(const std::string& extra) const {
  const std::string suffix(kT4UnitSuffix);
  if (extra.size() <= suffix.size() ||
      extra.compare(extra.size() - suffix.size(), suffix.size(), suffix) != 0)
    return false;
  const std::string of = extra.substr(0, extra.size() - suffix.size());
  return of == "time" || extra_named(history_, of) != nullptr;
}

// Numbers, texts and lists are measurements to T4; anything else stands beside them, unless its
// name is taken there.
void T4Writer::add_extras(Json& result, Json& measurements, std::size_t row) const {
  static const char* const kOwnPlace[] = {"timestamp", "correctness", "objectives"};
  for (const CellColumn& column : history_.extras) {
    const std::string& name = column.name();
    if (column.kind(row) == CellKind::absent || name == "time" || name == "times") continue;
    if (is_common_time(name) || name.rfind(kT4TimePrefix, 0) == 0 || is_unit(name)) continue;
    if (std::find(std::begin(kOwnPlace), std::end(kOwnPlace), name) != std::end(kOwnPlace))
      continue;
    Json value = json_of(column, row);
    const bool taken = result.contains(name) || name == "measurements";
    if (taken || value.is_number() || value.is_string() || value.is_array()) {
      measurements.push_back(measurement(name, std::move(value), row));
    } else {
      append(result, name, std::move(value));
    }
  }
}

Json T4Writer::result(std::size_t row) const {
  const auto own = [&](const char* name, Json otherwise) {
    const CellColumn* column = extra_named(history_, name);
    return column != nullptr && column->kind(row) != CellKind::absent ? json_of(*column, row)
                                                                      : std::move(otherwise);
  };
  const bool knows_objectives = extra_named(history_, "objectives") != nullptr;
  const TrialStatus status = history_.status[row];
  ExportedOutcome outcome = outcome_of(history_, row, time_extra_);
  Json result = Json::object();
  if (Json timestamp = own("timestamp", nullptr); !timestamp.is_null())
    append(result, "timestamp", std::move(timestamp));
  Json configuration = Json::object();
  for (const CellColumn& parameter : history_.parameters) {
    append(configuration, parameter.name(), json_of(parameter, row));
  }
  append(result, "configuration", std::move(configuration));
  append(result, "times", times(row));
  // Our status `crash` is a kind of `runtime` to T4.
  append(result, "invalidity",
         trial_status_name(status == TrialStatus::crash ? TrialStatus::runtime : status));
  Json correctness = own("correctness", history_.correct(row) ? 1 : 0);
  // Another tool's error, where T4 has a verdict.
  const bool misread = history_.correct(row) && correctness.is_number() && correctness == 0;
  if (misread && outcome.carried.empty()) outcome.carried = {{kCarriedStatus, "correct"}};
  append(result, "correctness", std::move(correctness));
  Json measurements = Json::array({measurement("time", outcome.time, row)});
  add_extras(result, measurements, row);
  append(result, "measurements", std::move(measurements));
  Json objectives = own("objectives", knows_objectives ? Json(nullptr) : Json::array({"time"}));
  if (!objectives.is_null()) append(result, "objectives", std::move(objectives));
  for (const auto& [name, value] : outcome.carried) append(result, name, value);
  return result;
}

std::string T4Writer::write() {
  std::string text = "{\n\"metadata\": " + json_text(metadata()) +
                     ",\n\"schema_version\": \"1.0.0\",\n\"results\": [\n";
  for (std::size_t row = 0; row < history_.rows(); ++row) {
    text += json_text(result(row)) + (row + 1 < history_.rows() ? ",\n" : "\n");
  }
  return text + "]\n}\n";
}

// --- Kernel Tuner ---

// As Python's str() writes a value; a cache's keys are made of these.
std::string cache_key(const History& history, std::size_t row) {
  std::string key;
  for (const CellColumn& parameter : history.parameters) {
    if (&parameter != &history.parameters.front()) key += ',';
    key += python_text(json_of(parameter, row));
  }
  return key;
}

Json tune_params_of(const History& history) {
  Json lists = Json::object();
  for (const CellColumn& parameter : history.parameters) {
    Json values = Json::array();
    std::unordered_set<std::string> seen;
    for (std::size_t row = 0; row < parameter.size(); ++row) {
      Json value = json_of(parameter, row);
      if (seen.insert(json_text(value)).second) values.push_back(std::move(value));
    }
    lists[parameter.name()] = std::move(values);
  }
  return lists;
}

Json cache_header(const History& history) {
  const Json known = note_of(history, "kernel_tuner.header");
  Json names = Json::array();
  for (const CellColumn& parameter : history.parameters) names.push_back(parameter.name());
  Json header = {{"device_name", history.device}, {"kernel_name", history.kernel}};
  if (history.shape.size() > 0) {
    // As the source wrote it, where it is still that: Kernel Tuner before 1.1 compares a number
    // with a number.
    const Json list = list_of(history.shape);
    const bool number =
        known.contains("problem_size") && list == Json::array({known["problem_size"]});
    header["problem_size"] = number ? list.front() : list;
  }
  header["tune_params_keys"] = std::move(names);
  header["tune_params"] =
      known.contains("tune_params") ? known["tune_params"] : tune_params_of(history);
  header["objective"] = known.contains("objective") ? known["objective"] : Json("time");
  for (const auto& [key, value] : known.items()) {
    if (!header.contains(key) && key != "problem_size") header[key] = value;
  }
  header[kCarriedMember] = carried_of(history);
  return header;
}

Json cache_record(const History& history, const std::vector<std::size_t>& offsets,
                  const CellColumn* time_extra, std::size_t row) {
  Json record = Json::object();
  for (const CellColumn& parameter : history.parameters)
    append(record, parameter.name(), json_of(parameter, row));
  const ExportedOutcome outcome = outcome_of(history, row, time_extra);
  append(record, "time", outcome.time);
  if (history.sample_count[row] > 0) append(record, "times", samples_of(history, offsets, row));
  if (!std::isnan(history.compile_time[row]))
    append(record, "compile_time", history.compile_time[row]);
  for (const CellColumn& column : history.extras) {
    if (column.kind(row) != CellKind::absent && column.name() != "time")
      append(record, column.name(), json_of(column, row));
  }
  for (const auto& [name, value] : outcome.carried) append(record, name, value);
  return record;
}

}  // namespace

History in_unit(const History& history, double nanoseconds_per_unit) {
  History scaled = history;
  const double from = history.nanoseconds_per_unit;
  if (from == nanoseconds_per_unit) return scaled;
  // One of the two factors is usually a power of ten that doubles hold exactly.
  const auto convert = [&](double time) {
    return from >= nanoseconds_per_unit ? time * (from / nanoseconds_per_unit)
                                        : time / (nanoseconds_per_unit / from);
  };
  for (auto* times : {&scaled.run_time, &scaled.compile_time, &scaled.samples}) {
    for (double& time : *times) time = convert(time);
  }
  const char* const word = time_unit_word(nanoseconds_per_unit);
  for (CellColumn& column : scaled.extras) {
    const std::string name = column.name();
    const bool is_unit = name == std::string("time") + kT4UnitSuffix && word != nullptr;
    if (!is_unit && name != "time" && !is_common_time(name)) continue;
    CellColumn converted(name);
    for (std::size_t row = 0; row < column.size(); ++row) {
      const CellKind kind = column.kind(row);
      if (is_unit && kind == CellKind::text && time_unit_from(column.text(row))) {
        converted.push_text(word);
      } else if (kind == CellKind::real) {
        converted.push_real(convert(column.real(row)));
      } else if (kind == CellKind::integer) {
        converted.push_real(convert(static_cast<double>(column.integer(row))));
      } else {
        converted.push_from(column, row);
      }
    }
    column = std::move(converted);
  }
  scaled.nanoseconds_per_unit = nanoseconds_per_unit;
  scaled.notes.emplace_back("nanoseconds_per_unit.source", json_text(Json(from)));
  return scaled;
}

Result<std::string> export_t4(const History& history) {
  if (Status status = check(history); !status.ok()) return status;
  if (time_unit_word(history.nanoseconds_per_unit) == nullptr) {
    const History scaled = in_unit(history, 1);
    return T4Writer(scaled).write();
  }
  return T4Writer(history).write();
}

Result<std::string> export_kernel_tuner(const History& history) {
  if (Status status = check(history); !status.ok()) return status;
  for (const CellColumn& parameter : history.parameters) {
    const std::string& name = parameter.name();
    if (name != "time" && name != "times" && name != "compile_time" &&
        extra_named(history, name) == nullptr)
      continue;
    return Status(StatusCode::unsupported,
                  "parameter '%' has the name of something else in a Kernel Tuner cache", name);
  }
  if (history.nanoseconds_per_unit != kMillisecond)
    return export_kernel_tuner(in_unit(history, kMillisecond));
  std::string header = json_text(cache_header(history));
  header.pop_back();  // the closing brace; Kernel Tuner wants exactly "}\n}" at the end
  std::string text = header + ", \"cache\": {\n";
  const std::vector<std::size_t> offsets = history.sample_offsets();
  const CellColumn* time_extra = extra_named(history, "time");
  std::unordered_set<std::string> keys;
  for (std::size_t row = 0; row < history.rows(); ++row) {
    const std::string key = cache_key(history, row);
    if (!keys.insert(key).second) {
      return Status(StatusCode::unsupported,
                    "the history of " + history.kernel + " on " + history.device +
                        ": two configurations would have the same key in a Kernel Tuner cache");
    }
    text +=
        json_text(Json(key)) + ": " + json_text(cache_record(history, offsets, time_extra, row));
    text += row + 1 < history.rows() ? ",\n" : "}\n}";
  }
  return text;
}

}  // namespace idletune
