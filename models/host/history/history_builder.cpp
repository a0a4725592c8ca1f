#include "models/host/history/history_builder.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "models/host/history/emulated.hpp"
#include "models/host/history/json_cells.hpp"
#include "models/host/history/source_name.hpp"

namespace idletune {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxRows = std::size_t{1} << 22;
constexpr std::size_t kMaxExtras = 4096;
constexpr std::size_t kMaxCells = std::size_t{1} << 25;
constexpr std::size_t kMaxSamples = std::size_t{1} << 25;
constexpr std::size_t kMaxTextBytes = std::size_t{1} << 28;

bool contains_word(const std::string& text, const char* word) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower.find(word) != std::string::npos;
}

// A number as Json would write it; nothing if the text is not exactly that.
std::optional<Json> number_in(const std::string& text) {
  if (text.empty() || text.size() > 30 || text.find_first_of("0123456789") == std::string::npos)
    return {};
  const Json parsed = Json::parse(text, nullptr, false);
  if (!parsed.is_number()) return {};
  return parsed;
}

// About as much as the value takes as a text; 0 for what is none.
std::size_t text_bytes(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size();
  return value.is_structured() ? 8 * value.size() : 0;
}

std::string code_key(const std::vector<CellColumn>& parameters, std::size_t row) {
  std::string key;
  key.reserve(parameters.size() * sizeof(std::int64_t));
  for (const CellColumn& parameter : parameters) {
    const std::int64_t code = parameter.code(row);
    key.append(reinterpret_cast<const char*>(&code), sizeof code);
  }
  return key;
}

}  // namespace

ImportedRow::ImportedRow() : run_time(kNoTime), compile_time(kNoTime) {}

bool ImportedRow::set_time(const Json& time, double failure_time) {
  const double value = time.is_number() ? time.get<double>() : kNoTime;
  if (std::isfinite(value) && value > 0 && value < failure_time) {
    run_time = value;
    return true;
  }
  run_time = kNoTime;
  if (status == TrialStatus::correct) status = TrialStatus::runtime;
  if (!time.is_null()) extras.emplace_back("time", time);
  return false;
}

bool ImportedRow::set_samples(const Json& times) {
  const bool numbers =
      times.is_array() && std::all_of(times.begin(), times.end(), [](const Json& t) {
        return t.is_number() && std::isfinite(t.get<double>()) && t.get<double>() > 0;
      });
  if (!numbers) {
    extras.emplace_back("times", times);
    return false;
  }
  samples.reserve(times.size());
  for (const Json& t : times) samples.push_back(t.get<double>());
  return true;
}

void ImportedRow::set_compile_time(const std::string& name, const Json& time) {
  if (time.is_number() && std::isfinite(time.get<double>()) && time.get<double>() >= 0) {
    compile_time = time.get<double>();
  } else {
    extras.emplace_back(name, time);
  }
}

TrialStatus status_of_word(const std::string& word, bool& known) {
  known = true;
  if (contains_word(word, "compil")) return TrialStatus::compile;
  if (contains_word(word, "correct") || contains_word(word, "verif"))
    return TrialStatus::correctness;
  if (contains_word(word, "timeout") || contains_word(word, "timedout"))
    return TrialStatus::timeout;
  if (contains_word(word, "invalid") || contains_word(word, "constraint"))
    return TrialStatus::constraints;
  known = contains_word(word, "runtime");
  return TrialStatus::runtime;
}

std::string shown(const std::string& text) {
  std::string result = "'";
  for (const char c : text.substr(0, 80))
    result += std::iscntrl(static_cast<unsigned char>(c)) ? ' ' : c;
  return result + (text.size() > 80 ? "...'" : "'");
}

Status HistoryBuilder::set_parameters(const std::vector<std::string>& names) {
  if (names.empty() || names.size() > kMaxParameters) {
    return Status(StatusCode::corrupt, std::to_string(names.size()) +
                                           " tuning parameters, expected 1 to " +
                                           std::to_string(kMaxParameters));
  }
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name) {
      return Status(StatusCode::corrupt, "parameter " + shown(*name) + " is listed twice");
    }
  }
  for (const std::string& name : names) history_.parameters.emplace_back(name);
  return Status();
}

// Brings the row's parameters into the history's order; false if they are others.
bool HistoryBuilder::fit_parameters(ImportedRow& row) {
  auto& values = row.parameters;
  if (values.size() != history_.parameters.size()) return false;
  for (std::size_t p = 0; p < values.size(); ++p) {
    const std::string& name = history_.parameters[p].name();
    const auto found = std::find_if(values.begin() + static_cast<std::ptrdiff_t>(p), values.end(),
                                    [&](const auto& value) { return value.first == name; });
    if (found == values.end()) return false;
    if (found != values.begin() + static_cast<std::ptrdiff_t>(p)) std::swap(values[p], *found);
  }
  return true;
}

// The column of that name, filled with `absent` up to the row; null if the row has it already.
CellColumn* HistoryBuilder::extra(const std::string& name, std::size_t index) {
  const auto [position, added] = extra_index_.emplace(name, history_.extras.size());
  if (added) history_.extras.emplace_back(name);
  CellColumn& column = history_.extras[position->second];
  while (column.size() < index) column.push_absent();
  return column.size() == index ? &column : nullptr;
}

Status HistoryBuilder::add_extras(ImportedRow& row, std::size_t index) {
  bool twice = false;
  for (const auto& [name, value] : row.extras) {
    CellColumn* column = extra(name, index);
    twice = twice || column == nullptr;
    if (column != nullptr) push_json(*column, value);
    if (history_.extras.size() > kMaxExtras) {
      return Status(StatusCode::out_of_memory,
                    "more than 4096 different things recorded per configuration");
    }
  }
  if (twice) met("with two values of one name: the first was kept");
  return Status();
}

Status HistoryBuilder::add(ImportedRow&& row) {
  if (!has_parameters()) {
    std::vector<std::string> names;
    for (const auto& [name, value] : row.parameters) names.push_back(name);
    if (Status status = set_parameters(names); !status.ok()) return status;
  }
  if (!fit_parameters(row)) {
    met("with other parameters than the first: left out");
    return Status();
  }
  const std::size_t index = history_.rows();
  const std::size_t columns = history_.parameters.size() + history_.extras.size();
  if (index >= kMaxRows || (index + 1) * columns > kMaxCells) {
    return Status(StatusCode::out_of_memory,
                  "more than 4 million configurations or 32 million values");
  }
  for (const auto* values : {&row.parameters, &row.extras}) {
    for (const auto& [name, value] : *values) text_bytes_ += text_bytes(value);
  }
  if (history_.samples.size() + row.samples.size() > kMaxSamples || text_bytes_ > kMaxTextBytes) {
    return Status(StatusCode::out_of_memory,
                  "more than 32 million single times or 256 MiB of texts");
  }
  for (std::size_t p = 0; p < row.parameters.size(); ++p) {
    push_json(history_.parameters[p], row.parameters[p].second);
  }
  replace_equal(index);
  history_.status.push_back(row.status);
  history_.run_time.push_back(row.status == TrialStatus::correct ? row.run_time : kNoTime);
  history_.compile_time.push_back(row.compile_time);
  history_.sample_count.push_back(static_cast<std::uint32_t>(row.samples.size()));
  history_.samples.insert(history_.samples.end(), row.samples.begin(), row.samples.end());
  return add_extras(row, index);
}

void HistoryBuilder::replace_equal(std::size_t index) {
  const auto [position, added] = row_index_.emplace(code_key(history_.parameters, index), index);
  if (added) return;
  met("measured more than once: the last of each counts");
  replaced_.push_back(position->second);
  position->second = index;
}

void HistoryBuilder::set_dimensions(const Json& size) {
  const Json list = size.is_array() ? size : Json::array({size});
  Shape shape;
  for (const Json& dimension : list) {
    if (is_whole_number(dimension)) shape.push_back(dimension.get<std::int64_t>());
  }
  if (shape.size() != list.size()) {
    return warn("problem_size " + shown(json_text(size)) + " is no list of up to " +
                std::to_string(kMaxDimensions) + " integers of 64 bits: left out");
  }
  for (std::size_t f = 0; f < history_.shape.feature_count(); ++f)
    shape.push_feature(history_.shape.feature(f));
  history_.shape = shape;
}

void HistoryBuilder::met(const std::string& what) {
  const auto found =
      std::find_if(met_.begin(), met_.end(), [&](const auto& m) { return m.first == what; });
  if (found != met_.end()) {
    ++found->second;
  } else {
    met_.emplace_back(what, 1);
  }
}

void HistoryBuilder::warn(const std::string& line) {
  const auto& lines = history_.warnings;
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) history_.warnings.push_back(line);
}

void HistoryBuilder::torn() {
  warn("the file ends early: kept the " + std::to_string(rows()) + " complete configurations");
}

Status HistoryBuilder::take_device(const std::string& named, const std::string& given,
                                   const std::string& path) {
  set_device(named, given, history_);
  if (names_a_device(history_.device)) return Status();
  const std::string guessed = name_from_path(path).device;
  if (guessed.empty()) {
    return {StatusCode::corrupt, "no device name, neither inside nor in the file's name"};
  }
  warn("its device is " + shown(history_.device) + ": took " + shown(guessed) +
       " from the file's name");
  history_.device = guessed;
  return Status();
}

void HistoryBuilder::drop_extra(const std::string& name) {
  const auto found = extra_index_.find(name);
  if (found == extra_index_.end()) return;
  history_.extras.erase(history_.extras.begin() + static_cast<std::ptrdiff_t>(found->second));
  extra_index_.clear();
  for (std::size_t i = 0; i < history_.extras.size(); ++i)
    extra_index_[history_.extras[i].name()] = i;
}

void HistoryBuilder::read_numbers_in_texts() {
  for (CellColumn& parameter : history_.parameters) {
    CellColumn numbers(parameter.name());
    for (std::size_t row = 0; row < parameter.size(); ++row) {
      const auto number =
          parameter.kind(row) == CellKind::text ? number_in(parameter.text(row)) : std::nullopt;
      if (!number) break;
      push_json(numbers, *number);
    }
    if (numbers.size() != parameter.size() || numbers.size() == 0) continue;
    warn("the values of parameter " + shown(parameter.name()) +
         " are numbers in quotation marks: taken as numbers");
    parameter = std::move(numbers);
  }
  row_index_.clear();  // two texts may be one number
  const std::unordered_set<std::size_t> replaced(replaced_.begin(), replaced_.end());
  for (std::size_t row = 0; row < history_.rows(); ++row) {
    if (replaced.count(row) == 0) replace_equal(row);
  }
}

void HistoryBuilder::drop_replaced() {
  std::vector<char> dropped(history_.rows(), 0);
  for (const std::size_t row : replaced_) dropped[row] = 1;
  const auto keep_cells = [&](CellColumn& column) {
    CellColumn kept(column.name());
    for (std::size_t row = 0; row < column.size(); ++row) {
      if (!dropped[row]) kept.push_from(column, row);
    }
    column = std::move(kept);
  };
  const auto keep = [&](auto& column) {
    std::size_t kept = 0;
    for (std::size_t row = 0; row < column.size(); ++row) {
      if (!dropped[row]) column[kept++] = column[row];
    }
    column.resize(kept);
  };
  std::vector<double> samples;
  const std::vector<std::size_t> offsets = history_.sample_offsets();
  for (std::size_t row = 0; row < history_.rows(); ++row) {
    if (dropped[row]) continue;
    for (std::size_t i = offsets[row]; i < offsets[row + 1]; ++i)
      samples.push_back(history_.samples[i]);
  }
  history_.samples = std::move(samples);
  for (CellColumn& column : history_.parameters) keep_cells(column);
  for (CellColumn& column : history_.extras) keep_cells(column);
  keep(history_.run_time);
  keep(history_.compile_time);
  keep(history_.sample_count);
  keep(history_.status);
  replaced_.clear();
}

void HistoryBuilder::warn_of_missing_compile_times() {
  const auto& times = history_.compile_time;
  const auto missing = static_cast<std::size_t>(
      std::count_if(times.begin(), times.end(), [](double time) { return std::isnan(time); }));
  if (missing == history_.rows()) {
    warn("no compile times");
  } else if (missing > 0) {
    warn(std::to_string(missing) + (missing == 1 ? " configuration" : " configurations") +
         " without a compile time");
  }
}

History HistoryBuilder::finish() {
  for (CellColumn& column : history_.extras) {
    while (column.size() < history_.rows()) column.push_absent();
  }
  if (!replaced_.empty()) drop_replaced();
  std::sort(history_.extras.begin(), history_.extras.end(),
            [](const CellColumn& a, const CellColumn& b) { return a.name() < b.name(); });
  for (const auto& [what, count] : met_) {
    warn(std::to_string(count) + (count == 1 ? " configuration " : " configurations ") + what);
  }
  if (!missing_compile_times_expected_) warn_of_missing_compile_times();
  History finished = std::move(history_);
  *this = HistoryBuilder();
  return finished;
}

}  // namespace idletune
