// Making a history of the rows that an importer reads, with the limits and the book-keeping that
// all importers share. Host side.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <idletune/result.hpp>

#include "models/host/history/history.hpp"

namespace idletune {

// Run times from here on (11 days) stand for a failure: tuners that must return a number return a
// huge one.
inline constexpr double kFailureTime_ns = 1e15;
inline constexpr double kFailureTime_ms = kFailureTime_ns / 1e6;

// In one file.
inline constexpr std::size_t kMaxImportedKernels = 64;

// One configuration as an importer found it. Times in the source's unit.
struct ImportedRow {
  using Json = nlohmann::ordered_json;
  std::vector<std::pair<std::string, Json>> parameters;
  TrialStatus status = TrialStatus::correct;
  double run_time;      // NaN unless correct
  double compile_time;  // NaN: not known
  std::vector<double> samples;
  std::vector<std::pair<std::string, Json>> extras;

  ImportedRow();
  // Takes the time if it is one (finite, above 0, below `failure_time`). Anything else makes the
  // row a failed one, keeps what is there as the extra "time", and returns false.
  bool set_time(const Json& time, double failure_time);
  // Takes the list as samples if all are finite positive numbers; otherwise keeps it as the extra
  // "times" and returns false.
  bool set_samples(const Json& times);
  // The compile time, if it is a number that is not negative; otherwise an extra of that name.
  void set_compile_time(const std::string& name, const Json& time);
};

// The status that a word in place of a time stands for; `known` false if it had to be guessed.
TrialStatus status_of_word(const std::string& word, bool& known);

// A text from a file in a message: one line, not too long, in quotation marks.
std::string shown(const std::string& text);

class HistoryBuilder {
 public:
  // Everything but the rows: name, device, unit, notes, ...
  History& history() { return history_; }

  // Sets the names of the parameters; without it those of the first row count. Error: corrupt if
  // there are none, more than kMaxParameters, or one twice.
  Status set_parameters(const std::vector<std::string>& names);
  bool has_parameters() const { return !history_.parameters.empty(); }

  // Adds a row. The values of its parameters may come in any order. A row with other parameters
  // than the rest is left out; of rows with equal parameters the last one counts; both lead to a
  // warning. Errors: those of set_parameters; out_of_memory beyond 4 million rows, 4,096 kinds of
  // extras, 32 million cells, 32 million samples or 256 MiB of texts.
  Status add(ImportedRow&& row);

  // Sets the problem's dimensions, beside the features that it has, and its names. A number, or a
  // list of up to kMaxDimensions whole numbers of 64 bits; anything else is left out, with a
  // warning.
  void set_dimensions(const nlohmann::ordered_json& size);

  // Counts configurations that are `what`; `finish` makes a warning of it ("12 configurations
  // ...").
  void met(const std::string& what);
  // A warning about the whole; nothing if it is there already.
  void warn(const std::string& line);
  // Warns that the file ended early, behind the rows that there are.
  void torn();
  // Names the device as set_device() does, or by the file's name where that gives none, with a
  // warning. Error: corrupt if that has none either.
  Status take_device(const std::string& named, const std::string& given, const std::string& path);
  // `finish` will not warn of missing compile times.
  void expect_missing_compile_times() { missing_compile_times_expected_ = true; }
  // Forgets an extra.
  void drop_extra(const std::string& name);

  // Parameters whose values are all numbers written as texts become numbers, with a warning.
  void read_numbers_in_texts();

  std::size_t rows() const { return history_.rows() - replaced_.size(); }
  // The finished history, its extras sorted by name; the builder is empty then. At least one row
  // must have been added.
  History finish();

 private:
  bool fit_parameters(ImportedRow& row);
  void replace_equal(std::size_t index);
  Status add_extras(ImportedRow& row, std::size_t index);
  CellColumn* extra(const std::string& name, std::size_t index);
  void drop_replaced();
  void warn_of_missing_compile_times();

  History history_;
  std::unordered_map<std::string, std::size_t> extra_index_;
  std::unordered_map<std::string, std::size_t> row_index_;  // by the parameters' codes
  std::vector<std::size_t> replaced_;
  std::vector<std::pair<std::string, std::size_t>> met_;
  std::size_t text_bytes_ = 0;
  bool missing_compile_times_expected_ = false;
};

}  // namespace idletune
