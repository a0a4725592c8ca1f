// The T4 format of the autotuning community (results-schema.json 1.0.0): one JSON object with
// "results", a list with one object per configuration, and "metadata".
#include <numeric>
#include <utility>

#include "models/host/history/carried.hpp"
#include "models/host/history/history_builder.hpp"
#include "models/host/history/import.hpp"
#include "models/host/history/json_cells.hpp"
#include "models/host/history/json_stream.hpp"
#include "models/host/history/source_name.hpp"
#include "models/host/history/t4_names.hpp"
#include "models/host/history/time_unit.hpp"

namespace idletune {

namespace {

using Json = nlohmann::ordered_json;

class T4Importer {
 public:
  T4Importer(const std::string& path, const ImportOptions& options)
      : path_(path), options_(options) {}

  Status header(const std::string& key, Json&& value) {
    if (key == "metadata") {
      metadata_ = std::move(value);
      take_unit(text_member(metadata_, "timeunit"));
    } else {
      others_[key] = std::move(value);
    }
    return Status();
  }
  bool ready() const { return !metadata_.empty(); }
  Status record(const Json& result);
  Result<History> finish(bool torn);

 private:
  void take_unit(const std::string& word);
  bool is_converted(const std::string& unit, Json& time);
  void add_times(const Json& times, ImportedRow& row);
  // Takes the measurements that are not the time; returns the time, null if there is none.
  Json add_measurements(const Json& measurements, ImportedRow& row);
  void add_outcome(const Json& result, const Json& time, ImportedRow& row);
  void add_status(const Json& result, const Json& time, ImportedRow& row);
  Status read_names();
  Status read_unit();
  static Status corrupt(const std::string& what) { return Status(StatusCode::corrupt, what); }

  std::string path_;
  ImportOptions options_;
  Json metadata_ = Json::object();
  Json others_ = Json::object();
  std::string unit_;                       // the metadata's, else that of the first time; or none
  double failure_time_ = kFailureTime_ms;  // in that unit
  HistoryBuilder builder_;
};

void T4Importer::take_unit(const std::string& word) {
  if (word.empty()) return;
  unit_ = word;
  const std::optional<TimeUnit> unit = time_unit_from(word);
  if (unit) failure_time_ = kFailureTime_ns / unit->nanoseconds;
}

void T4Importer::add_times(const Json& times, ImportedRow& row) {
  if (!times.is_object()) return;
  for (const auto& [name, value] : times.items()) {
    if (name == "runtimes") {
      if (!row.set_samples(value))
        builder_.met("with single times that are no times: kept, not as samples");
    } else if (name == "compilation" || name == "compilation_time") {
      row.set_compile_time("compile_time", value);
    } else {
      row.extras.emplace_back(extra_of_t4_time(name), value);
    }
  }
}

// From its own unit into the file's, where these differ.
bool T4Importer::is_converted(const std::string& unit, Json& time) {
  const std::optional<TimeUnit> own = time_unit_from(unit);
  if (!own) return false;
  if (unit_.empty()) take_unit(unit);
  const std::optional<TimeUnit> all = time_unit_from(unit_);
  if (!all || own->nanoseconds == all->nanoseconds || !time.is_number()) return false;
  time = time.get<double>() * (own->nanoseconds / all->nanoseconds);
  builder_.met("with a time in another unit than the file's: converted");
  return true;
}

Json T4Importer::add_measurements(const Json& measurements, ImportedRow& row) {
  Json time = nullptr;
  if (!measurements.is_array()) return time;
  for (const Json& measurement : measurements) {
    const std::string name = text_member(measurement, "name");
    const auto value = measurement.is_object() ? measurement.find("value") : measurement.end();
    if (name.empty() || value == measurement.end()) {
      builder_.met("with a measurement without name or value: left out");
      continue;
    }
    if (name == "time") {
      time = *value;
    } else if (name == "__error__") {
      continue;  // Kernel Tuner's, whose reason is the invalidity
    } else {
      row.extras.emplace_back(name, *value);
    }
    const std::string unit = text_member(measurement, "unit");
    if (name == "time" && is_converted(unit, time)) continue;
    if (!unit.empty()) row.extras.emplace_back(name + kT4UnitSuffix, unit);
  }
  return time;
}

// "invalidity" if it is there, else what the word in place of the time says.
void T4Importer::add_status(const Json& result, const Json& time, ImportedRow& row) {
  const std::string invalidity = text_member(result, "invalidity");
  bool known = true;
  if (invalidity.empty()) {
    builder_.met("without \"invalidity\": judged by their time");
    if (time.is_string()) row.status = status_of_word(time.get<std::string>(), known);
    return;
  }
  if (invalidity == "correct") return;
  row.status = status_of_word(invalidity, known);
  if (!known) {
    builder_.met("with an unknown \"invalidity\": failed (runtime)");
    row.extras.emplace_back("invalidity", invalidity);
  }
}

void T4Importer::add_outcome(const Json& result, const Json& time, ImportedRow& row) {
  if (result.contains(kCarriedStatus)) {
    ImportedRow restored;
    restored.set_time(time, failure_time_);
    restored.extras.clear();
    if (restore_outcome(result, restored)) {
      row.status = restored.status;
      row.run_time = restored.run_time;
      for (auto& extra : restored.extras) row.extras.push_back(std::move(extra));
      return;
    }
  }
  add_status(result, time, row);
  if (row.status != TrialStatus::correct) {
    if (!time.is_null()) row.extras.emplace_back("time", time);
    return;
  }
  if (time.is_null() && !row.samples.empty()) {
    const double sum = std::accumulate(row.samples.begin(), row.samples.end(), 0.0);
    row.set_time(sum / static_cast<double>(row.samples.size()), failure_time_);
    builder_.met("without a measurement \"time\": took the mean of their single times");
  } else if (time.is_null()) {
    row.status = TrialStatus::runtime;
    builder_.met("without a time: failed (runtime)");
  } else if (!row.set_time(time, failure_time_)) {
    builder_.met(
        "called correct with a time that is none (a word, 0, negative, 11 days or more): failed "
        "(runtime)");
  }
  const auto correctness = result.find("correctness");
  if (row.status == TrialStatus::correct && correctness != result.end() &&
      correctness->is_number() && correctness->get<double>() == 0) {
    row.status = TrialStatus::correctness;
    row.extras.emplace_back("time", row.run_time);
    builder_.met("called correct with \"correctness\" 0: failed (correctness)");
  }
}

Status T4Importer::record(const Json& result) {
  if (!result.is_object()) return corrupt("a result that is no object");
  const auto configuration = result.find("configuration");
  if (configuration == result.end() || !configuration->is_object()) {
    return corrupt("a result without an object \"configuration\"");
  }
  ImportedRow row;
  for (const auto& [name, value] : configuration->items()) row.parameters.emplace_back(name, value);
  Json time = nullptr;
  for (const auto& [name, value] : result.items()) {
    if (name == "configuration" || name == "invalidity" || name == kCarriedStatus ||
        name == kCarriedTime)
      continue;
    if (name == "times") {
      add_times(value, row);
    } else if (name == "measurements") {
      time = add_measurements(value, row);
    } else {
      row.extras.emplace_back(name, value);
    }
  }
  add_outcome(result, time, row);
  return builder_.add(std::move(row));
}

Status T4Importer::read_names() {
  History& history = builder_.history();
  history.kernel =
      options_.kernel.empty() ? text_member(metadata_, "kernel_name") : options_.kernel;
  if (history.kernel.empty()) {
    history.kernel = name_from_path(path_).kernel;
    if (history.kernel.empty())
      return corrupt("no kernel name, neither inside nor in the file's name");
    builder_.warn("T4 files name no kernel: took " + shown(history.kernel) +
                  " from the file's name");
  }
  return builder_.take_device(text_member(metadata_, "device"), options_.device, path_);
}

Status T4Importer::read_unit() {
  double& unit = builder_.history().nanoseconds_per_unit;
  const std::optional<TimeUnit> known = time_unit_from(unit_);
  if (known) {
    unit = known->nanoseconds;
    if (known->mistyped) {
      builder_.warn("its unit of time is " + shown(unit_) + ": taken as " + time_unit_word(unit));
    }
  } else if (unit_.empty()) {
    unit = 1e6;
    builder_.warn(
        "it does not say its unit of time: taken as milliseconds, which T4's writers use");
  } else {
    return corrupt("the unit of time is " + shown(unit_) +
                   ", expected nanoseconds, microseconds, milliseconds or seconds");
  }
  return Status();
}

Result<History> T4Importer::finish(bool torn) {
  const auto failed = [this](const Status& status) {
    return Status(status.code(), path_ + ": " + status.message());
  };
  if (builder_.rows() == 0) return failed(corrupt("no measurement in \"results\""));
  const bool carries = metadata_.is_object() && metadata_.contains(kCarriedMember);
  if (carries) restore_carried(metadata_[kCarriedMember], builder_);
  if (Status status = read_names(); !status.ok()) return failed(status);
  if (Status status = read_unit(); !status.ok()) return failed(status);
  if (metadata_.is_object() && metadata_.contains("problem_size"))
    builder_.set_dimensions(metadata_["problem_size"]);
  if (!carries) {
    builder_.history().notes.emplace_back("t4.metadata", json_text(metadata_));
    if (!others_.empty()) builder_.history().notes.emplace_back("t4.header", json_text(others_));
    builder_.read_numbers_in_texts();
  }
  if (torn) builder_.torn();
  return builder_.finish();
}

}  // namespace

Result<History> import_t4(std::string_view json, const std::string& path,
                          const ImportOptions& options) {
  T4Importer importer(path, options);
  JsonStreamCalls calls;
  calls.member = [&](const std::string& key, Json&& value) {
    return importer.header(key, std::move(value));
  };
  calls.element = [&](const std::string&, Json&& value) { return importer.record(value); };
  calls.ready = [&] { return importer.ready(); };
  const Result<JsonStreamResult> streamed = stream_json(json, path, "results", calls);
  if (!streamed.ok()) return streamed.status();
  return importer.finish(streamed->torn);
}

}  // namespace idletune
