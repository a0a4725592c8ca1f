// Kernel Tuner's cache files: one JSON object with the tuning parameters and, under "cache", one
// object per configuration, keyed by its comma-separated values.
#include <algorithm>
#include <map>
#include <utility>

#include "models/host/history/carried.hpp"
#include "models/host/history/history_builder.hpp"
#include "models/host/history/import.hpp"
#include "models/host/history/json_cells.hpp"
#include "models/host/history/json_stream.hpp"
#include "models/host/history/time_unit.hpp"

namespace idletune {

namespace {

using Json = nlohmann::ordered_json;

constexpr char kError[] = "__error__";

// A piece of a key for which the file lists no value.
Json guess_value(const std::string& piece) {
  if (piece == "True") return true;
  if (piece == "False") return false;
  const Json parsed = Json::parse(piece, nullptr, false);
  return parsed.is_number() ? parsed : Json(piece);
}

// What a record says of a failure; null if it says nothing. Kernel Tuner has a member for it since
// 1.1; before that a word stood for the objective, which need not be the time.
const Json* failure_in(const Json& record) {
  const auto error = record.find(kError);
  if (error != record.end() && !error->is_null()) return &*error;
  const auto time = record.find("time");
  if (time != record.end() && !time->is_null()) return time->is_string() ? &*time : nullptr;
  for (const Json& value : record) {
    for (const char* word : {"InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig"}) {
      if (value == word) return &value;
    }
  }
  return nullptr;
}

std::vector<std::string> split_key(const std::string& key) {
  std::vector<std::string> pieces{""};
  for (const char c : key) {
    if (c == ',') {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

class KernelTunerImporter {
 public:
  KernelTunerImporter(const std::string& path, const ImportOptions& options)
      : path_(path), options_(options) {}

  // A member of the top level, except the cache.
  Status header(const std::string& key, Json&& value) {
    header_[key] = std::move(value);
    return Status();
  }
  bool ready() const { return header_.contains("tune_params_keys"); }
  // One configuration.
  Status record(const std::string& key, const Json& value) {
    if (!builder_.has_parameters()) {
      if (Status status = read_parameters(); !status.ok()) return status;
    }
    return add_row(key, value);
  }
  Result<History> finish(bool torn);

 private:
  Status read_header();
  void read_restrictions();
  Status read_parameters();
  Status add_parameters(const std::string& key, const Json& record, ImportedRow& row);
  Status add_row(const std::string& key, const Json& record);
  void add_outcome(const Json& record, ImportedRow& row);
  void add_extras(const Json& record, ImportedRow& row);
  std::string text(const char* key) const {
    const auto found = header_.find(key);
    return found != header_.end() && found->is_string() ? found->get<std::string>() : std::string();
  }
  static Status corrupt(const std::string& what) { return Status(StatusCode::corrupt, what); }

  std::string path_;
  ImportOptions options_;
  Json header_ = Json::object();
  std::vector<std::string> names_;
  std::vector<std::map<std::string, Json>> values_;  // per parameter: text in a key to value
  HistoryBuilder builder_;
  std::size_t values_in_keys_ = 0;
};

void KernelTunerImporter::read_restrictions() {
  const auto restrictions = header_.find("restrictions");
  if (restrictions == header_.end() || restrictions->is_null()) return;
  std::vector<std::string>& constraints = builder_.history().constraints;
  if (!restrictions->is_array()) return constraints.push_back(python_text(*restrictions));
  for (const Json& restriction : *restrictions) constraints.push_back(python_text(restriction));
}

Status KernelTunerImporter::read_header() {
  History& history = builder_.history();
  history.nanoseconds_per_unit = kMillisecond;
  const auto carried = header_.find(kCarriedMember);
  if (carried != header_.end()) {
    restore_carried(*carried, builder_);
  } else {
    history.notes.emplace_back("kernel_tuner.header", json_text(header_));
    read_restrictions();
  }
  history.kernel = options_.kernel.empty() ? text("kernel_name") : options_.kernel;
  if (history.kernel.empty()) return corrupt("no \"kernel_name\" (give the kernel's name)");
  const Status named = builder_.take_device(text("device_name"), options_.device, path_);
  if (!named.ok()) return named;
  const auto size = header_.find("problem_size");
  if (size != header_.end()) builder_.set_dimensions(*size);
  return Status();
}

Status KernelTunerImporter::read_parameters() {
  const auto keys = header_.find("tune_params_keys");
  if (keys == header_.end() || !keys->is_array()) return corrupt("no list \"tune_params_keys\"");
  const auto lists = header_.find("tune_params");
  for (const Json& key : *keys) {
    if (!key.is_string()) return corrupt("\"tune_params_keys\" holds something that is no name");
    names_.push_back(key.get<std::string>());
  }
  if (Status status = builder_.set_parameters(names_); !status.ok()) return status;
  for (const std::string& name : names_) {
    values_.emplace_back();
    if (lists == header_.end() || !lists->is_object() || !lists->contains(name)) continue;
    for (const Json& value : (*lists)[name]) values_.back()[python_text(value)] = value;
  }
  return Status();
}

Status KernelTunerImporter::add_parameters(const std::string& key, const Json& record,
                                           ImportedRow& row) {
  for (const std::string& name : names_) {
    const auto found = record.find(name);
    if (found == record.end()) break;
    row.parameters.emplace_back(name, *found);
  }
  if (row.parameters.size() == names_.size()) return Status();
  row.parameters.clear();
  ++values_in_keys_;
  const std::vector<std::string> pieces = split_key(key);
  if (pieces.size() != names_.size()) {
    return corrupt("configuration " + shown(key) + " has " + std::to_string(pieces.size()) +
                   " values, expected " + std::to_string(names_.size()));
  }
  for (std::size_t p = 0; p < names_.size(); ++p) {
    const auto listed = values_[p].find(pieces[p]);
    row.parameters.emplace_back(
        names_[p], listed != values_[p].end() ? listed->second : guess_value(pieces[p]));
  }
  return Status();
}

void KernelTunerImporter::add_outcome(const Json& record, ImportedRow& row) {
  const auto time = record.find("time");
  if (record.contains(kCarriedStatus)) {
    ImportedRow restored;
    if (time != record.end()) restored.set_time(*time, kFailureTime_ms);
    restored.extras.clear();
    if (restore_outcome(record, restored)) {
      row.status = restored.status;
      row.run_time = restored.run_time;
      row.extras = std::move(restored.extras);
      return;
    }
  }
  if (const Json* reason = failure_in(record)) {
    bool known = false;
    row.status = reason->is_string() ? status_of_word(reason->get<std::string>(), known)
                                     : TrialStatus::runtime;
    row.extras.emplace_back("time", *reason);
    if (!known) builder_.met("with an unknown word for a time: failed (runtime)");
    if (time != record.end() && !time->is_null() && *time != *reason)
      builder_.met("with an error beside a time: the error counts");
  } else if (time == record.end() || time->is_null()) {
    row.status = TrialStatus::runtime;
    builder_.met("without a time: failed (runtime)");
  } else if (!row.set_time(*time, kFailureTime_ms)) {
    builder_.met("with a time that is none (0, negative, 1e9 ms or more): failed (runtime)");
  }
}

void KernelTunerImporter::add_extras(const Json& record, ImportedRow& row) {
  for (const auto& [name, value] : record.items()) {
    if (name == "time" || name == kError || name == kCarriedStatus || name == kCarriedTime)
      continue;
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
    if (name == "times") {
      if (!row.set_samples(value))
        builder_.met("with single times that are no times: kept, not as samples");
    } else if (name == "compile_time") {
      row.set_compile_time(name, value);
    } else {
      row.extras.emplace_back(name, value);
    }
  }
}

Status KernelTunerImporter::add_row(const std::string& key, const Json& record) {
  if (!record.is_object()) return corrupt("configuration " + shown(key) + " is no object");
  ImportedRow row;
  if (Status status = add_parameters(key, record, row); !status.ok()) return status;
  add_outcome(record, row);
  add_extras(record, row);
  return builder_.add(std::move(row));
}

Result<History> KernelTunerImporter::finish(bool torn) {
  const auto failed = [this](const Status& status) {
    return Status(status.code(), path_ + ": " + status.message());
  };
  if (Status status = read_header(); !status.ok()) return failed(status);
  if (!builder_.has_parameters()) {
    if (Status status = read_parameters(); !status.ok()) return failed(status);
  }
  if (builder_.rows() == 0) return failed(corrupt("no measurement in \"cache\""));
  if (torn) builder_.torn();
  if (values_in_keys_ > 0 && values_in_keys_ < builder_.rows()) {
    builder_.warn(std::to_string(values_in_keys_) +
                  " configurations name their values in the key only");
  }
  return builder_.finish();
}

}  // namespace

Result<History> import_kernel_tuner(std::string_view json, const std::string& path,
                                    const ImportOptions& options) {
  KernelTunerImporter importer(path, options);
  JsonStreamCalls calls;
  calls.member = [&](const std::string& key, Json&& value) {
    return importer.header(key, std::move(value));
  };
  calls.element = [&](const std::string& key, Json&& value) { return importer.record(key, value); };
  calls.ready = [&] { return importer.ready(); };  // not so where keys are sorted
  const Result<JsonStreamResult> streamed = stream_json(json, path, "cache", calls);
  if (!streamed.ok()) return streamed.status();
  return importer.finish(streamed->torn);
}

}  // namespace idletune
