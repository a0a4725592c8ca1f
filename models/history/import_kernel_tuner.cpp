// Kernel Tuner's cache files: one JSON object with the tuning parameters and, under "cache", one
// object per configuration, keyed by its comma-separated values.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "models/history/import.hpp"
#include "models/history/json_stream.hpp"

namespace idletune {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMillisecond = 1e6;  // ns
// Times from here on stand for a failure: tuners that must return a number return a huge one.
constexpr double kFailureTime_ms = 1e9;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool contains_word(const std::string& text, const char* word) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower.find(word) != std::string::npos;
}

// The status that a word in place of a time stands for; `known` false if it had to be guessed.
TrialStatus status_of_word(const std::string& word, bool& known) {
  known = true;
  if (contains_word(word, "compil")) return TrialStatus::compile;
  if (contains_word(word, "correct") || contains_word(word, "verif")) return TrialStatus::correctness;
  if (contains_word(word, "timeout") || contains_word(word, "timedout")) return TrialStatus::timeout;
  if (contains_word(word, "invalid") || contains_word(word, "constraint")) return TrialStatus::constraints;
  known = contains_word(word, "runtime");
  return TrialStatus::runtime;
}

void push_json(CellColumn& column, const Json& value) {
  if (value.is_boolean()) {
    column.push_boolean(value.get<bool>());
  } else if (value.is_number_unsigned() &&
             value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    column.push_real(value.get<double>());
  } else if (value.is_number_integer()) {
    column.push_integer(value.get<std::int64_t>());
  } else if (value.is_number()) {
    column.push_real(value.get<double>());
  } else if (value.is_string()) {
    column.push_text(value.get_ref<const std::string&>());
  } else {
    column.push_text(value.dump(-1, ' ', false, Json::error_handler_t::replace), CellKind::json);
  }
}

// As Python's str() writes a value: this is what keys are made of.
std::string python_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A piece of a key for which the file lists no value.
Json guess_value(const std::string& piece) {
  if (piece == "True") return true;
  if (piece == "False") return false;
  const Json parsed = Json::parse(piece, nullptr, false);
  return parsed.is_number() ? parsed : Json(piece);
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

// "convolution-RTX_3090-run1.json.gz" names RTX 3090.
std::string device_from_path(const std::string& path) {
  std::string stem = path.substr(path.find_last_of('/') + 1);
  stem = stem.substr(0, stem.find(".json"));
  stem = stem.substr(0, stem.find(".ithistory"));
  const std::size_t first = stem.find('-');
  if (first == std::string::npos) return "";
  std::string device = stem.substr(first + 1);
  const std::size_t run = device.rfind("-run");
  if (run != std::string::npos && run > 0) device.resize(run);
  std::replace(device.begin(), device.end(), '_', ' ');
  return device;
}

// Some runs recorded the host's architecture, or nothing, where the device belongs.
bool names_a_device(const std::string& name) {
  static const char* const kHosts[] = {"", "x86_64", "amd64", "aarch64", "arm64", "ppc64le", "i686"};
  return std::find(std::begin(kHosts), std::end(kHosts), name) == std::end(kHosts);
}

class Importer {
 public:
  Importer(const std::string& path, const ImportOptions& options) : path_(path), options_(options) {}

  // A member of the top level, except the cache.
  void header(const std::string& key, Json&& value) { header_[key] = std::move(value); }
  // One configuration.
  void record(const std::string& key, Json&& value) {
    const auto [position, added] = index_.emplace(key, records_.size());
    if (added) {
      records_.emplace_back(key, std::move(value));
    } else {
      ++repeated_;
      records_[position->second].second = std::move(value);
    }
  }
  Result<History> finish(bool torn);

 private:
  Status read_header();
  Status read_parameters();
  Status add_parameters(const std::string& key, const Json& record);
  Status add_row(const std::string& key, const Json& record);
  void add_outcome(const Json& record);
  void add_samples(const Json& record);
  void add_extras(const Json& record);
  CellColumn& extra(const std::string& name);
  void warn(std::size_t count, const std::string& what) {
    if (count > 0) history_.warnings.push_back(std::to_string(count) + " " + what);
  }
  Status corrupt(const std::string& what) const {
    return Status(StatusCode::corrupt, path_ + ": " + what);
  }

  std::string path_;
  ImportOptions options_;
  Json header_ = Json::object();
  std::vector<std::pair<std::string, Json>> records_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::string> names_;
  std::vector<std::map<std::string, Json>> values_;  // per parameter: text in a key to value
  std::map<std::string, std::size_t> extra_index_;
  History history_;
  std::size_t repeated_ = 0, huge_ = 0, missing_time_ = 0, other_words_ = 0, odd_samples_ = 0;
  std::size_t no_compile_time_ = 0, values_in_keys_ = 0;
};

Status Importer::read_header() {
  const auto text = [this](const char* key) {
    const auto found = header_.find(key);
    return found != header_.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  history_.kernel = options_.kernel.empty() ? text("kernel_name") : options_.kernel;
  if (history_.kernel.empty()) return corrupt("no \"kernel_name\" (give the kernel's name)");
  history_.device = options_.device.empty() ? text("device_name") : options_.device;
  if (!names_a_device(history_.device)) {
    const std::string guessed = device_from_path(path_);
    history_.warnings.push_back("device_name is '" + history_.device + "': took '" + guessed +
                                "' from the file's name");
    history_.device = guessed;
    if (guessed.empty()) return corrupt("no device name, neither inside nor in the file's name");
  }
  history_.nanoseconds_per_unit = kMillisecond;
  const auto size = header_.find("problem_size");
  if (size != header_.end()) {
    const Json list = size->is_array() ? *size : Json::array({*size});
    for (const Json& dimension : list) {
      if (dimension.is_number_integer()) history_.shape.push_back(dimension.get<std::int64_t>());
    }
    if (history_.shape.size() != list.size()) {
      history_.warnings.push_back("problem_size " + size->dump() + " is no list of integers: left out");
      history_.shape = Shape();
    }
  }
  history_.notes.emplace_back("kernel_tuner.header",
                              header_.dump(-1, ' ', false, Json::error_handler_t::replace));
  return Status();
}

Status Importer::read_parameters() {
  const auto keys = header_.find("tune_params_keys");
  if (keys == header_.end() || !keys->is_array()) return corrupt("no list \"tune_params_keys\"");
  if (keys->empty() || keys->size() > kMaxParameters) {
    return corrupt(std::to_string(keys->size()) + " tuning parameters, expected 1 to " +
                   std::to_string(kMaxParameters));
  }
  const auto lists = header_.find("tune_params");
  for (const Json& key : *keys) {
    if (!key.is_string()) return corrupt("\"tune_params_keys\" holds something that is no name");
    const std::string name = key.get<std::string>();
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
      return corrupt("parameter '" + name + "' is listed twice");
    }
    names_.push_back(name);
    history_.parameters.emplace_back(name);
    values_.emplace_back();
    if (lists == header_.end() || !lists->is_object() || !lists->contains(name)) continue;
    for (const Json& value : (*lists)[name]) values_.back()[python_text(value)] = value;
  }
  return Status();
}

Status Importer::add_parameters(const std::string& key, const Json& record) {
  const bool in_record = std::all_of(names_.begin(), names_.end(),
                                     [&](const std::string& name) { return record.contains(name); });
  if (in_record) {
    for (std::size_t p = 0; p < names_.size(); ++p) push_json(history_.parameters[p], record[names_[p]]);
    return Status();
  }
  ++values_in_keys_;
  const std::vector<std::string> pieces = split_key(key);
  if (pieces.size() != names_.size()) {
    return corrupt("configuration \"" + key + "\" has " + std::to_string(pieces.size()) +
                   " values, expected " + std::to_string(names_.size()));
  }
  for (std::size_t p = 0; p < names_.size(); ++p) {
    const auto listed = values_[p].find(pieces[p]);
    push_json(history_.parameters[p], listed != values_[p].end() ? listed->second : guess_value(pieces[p]));
  }
  return Status();
}

void Importer::add_outcome(const Json& record) {
  TrialStatus status = TrialStatus::correct;
  double time = kNone;
  const auto found = record.find("time");
  if (found != record.end() && found->is_string()) {
    bool known = true;
    status = status_of_word(found->get<std::string>(), known);
    if (!known) ++other_words_;
    extra("time").push_text(found->get<std::string>());
  } else if (found != record.end() && found->is_number()) {
    time = found->get<double>();
    const bool usable = std::isfinite(time) && time > 0 && time < kFailureTime_ms;
    if (!usable) {
      ++huge_;
      status = TrialStatus::runtime;
      extra("time").push_real(time);
      time = kNone;
    }
  } else {
    ++missing_time_;
    status = TrialStatus::runtime;
  }
  history_.status.push_back(status);
  history_.run_time.push_back(time);
  const auto compile = record.find("compile_time");
  const bool compiled = compile != record.end() && compile->is_number();
  if (!compiled) ++no_compile_time_;
  history_.compile_time.push_back(compiled ? compile->get<double>() : kNone);
}

void Importer::add_samples(const Json& record) {
  const auto times = record.find("times");
  std::uint32_t count = 0;
  if (times != record.end() && times->is_array()) {
    const bool numbers = std::all_of(times->begin(), times->end(), [](const Json& t) {
      return t.is_number() && std::isfinite(t.get<double>()) && t.get<double>() > 0;
    });
    if (numbers) {
      for (const Json& t : *times) history_.samples.push_back(t.get<double>());
      count = static_cast<std::uint32_t>(times->size());
    } else {
      ++odd_samples_;
      push_json(extra("times"), *times);
    }
  }
  history_.sample_count.push_back(count);
}

// The column of that name, filled with `absent` up to the current row.
CellColumn& Importer::extra(const std::string& name) {
  const auto [position, added] = extra_index_.emplace(name, history_.extras.size());
  if (added) history_.extras.emplace_back(name);
  CellColumn& column = history_.extras[position->second];
  const std::size_t row = history_.parameters.front().size() - 1;
  while (column.size() < row) column.push_absent();
  return column;
}

void Importer::add_extras(const Json& record) {
  for (const auto& [name, value] : record.items()) {
    if (name == "time" || name == "times") continue;
    if (name == "compile_time" && value.is_number()) continue;
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
    push_json(extra(name), value);
  }
}

Status Importer::add_row(const std::string& key, const Json& record) {
  if (!record.is_object()) return corrupt("configuration \"" + key + "\" is no object");
  if (Status status = add_parameters(key, record); !status.ok()) return status;
  add_outcome(record);
  add_samples(record);
  add_extras(record);
  return Status();
}

Result<History> Importer::finish(bool torn) {
  if (Status status = read_header(); !status.ok()) return status;
  if (Status status = read_parameters(); !status.ok()) return status;
  for (const auto& [key, record] : records_) {
    if (Status status = add_row(key, record); !status.ok()) return status;
  }
  if (records_.empty()) return corrupt("no measurement in \"cache\"");
  for (CellColumn& column : history_.extras) {
    while (column.size() < history_.rows()) column.push_absent();
  }
  if (torn) {
    history_.warnings.push_back("the file ends early (a cache that was not closed): kept the " +
                                std::to_string(records_.size()) + " complete configurations");
  }
  warn(repeated_, "configurations were there more than once: kept the last of each");
  warn(huge_, "configurations with a time that is no time (0, negative, or 1e9 ms and more) count as failed (runtime)");
  warn(missing_time_, "configurations without a time count as failed (runtime)");
  warn(other_words_, "configurations with an unknown word for a time count as failed (runtime)");
  warn(odd_samples_, "lists of single times hold something else: kept as text, not as samples");
  if (no_compile_time_ == history_.rows()) {
    history_.warnings.push_back("no compile times");
  } else {
    warn(no_compile_time_, "configurations have no compile time");
  }
  if (values_in_keys_ > 0 && values_in_keys_ < history_.rows()) {
    warn(values_in_keys_, "configurations name their values in the key only");
  }
  return std::move(history_);
}

}  // namespace

Result<History> import_kernel_tuner(const std::string& json, const std::string& path,
                                    const ImportOptions& options) {
  Importer importer(path, options);
  const Result<JsonStreamResult> streamed = stream_json(
      json, path, "cache", [&](const std::string& key, Json&& value) { importer.header(key, std::move(value)); },
      [&](const std::string& key, Json&& value) { importer.record(key, std::move(value)); });
  if (!streamed.ok()) return streamed.status();
  return importer.finish(streamed->torn);
}

}  // namespace idletune
