#include "models/host/history/many_problems.hpp"

#include <algorithm>
#include <utility>

namespace idletune {
namespace {

// Ends each part of a text.
constexpr char kSeparator = '\x1f';

template <class T>
std::vector<T> part_of(const std::vector<T>& all, std::size_t first, std::size_t count) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

std::vector<CellColumn> part_of_cells(const std::vector<CellColumn>& all, std::size_t first,
                                      std::size_t count) {
  std::vector<CellColumn> parts;
  for (const CellColumn& column : all) {
    parts.emplace_back(column.name());
    for (std::size_t row = first; row < first + count; ++row) parts.back().push_from(column, row);
  }
  return parts;
}

}  // namespace

std::string joined_parts(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    std::string clean = part;
    std::replace(clean.begin(), clean.end(), kSeparator, ' ');
    text += clean + kSeparator;
  }
  return text;
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(kSeparator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

namespace {

void append_cells(const CellColumn& source, CellColumn& target) {
  for (std::size_t row = 0; row < source.size(); ++row) target.push_from(source, row);
}

// Columns that one of both lacks are without a value there.
void append_extras(const History& from, History& to) {
  for (const CellColumn& column : from.extras) {
    const auto same = [&](const CellColumn& other) { return other.name() == column.name(); };
    if (std::find_if(to.extras.begin(), to.extras.end(), same) != to.extras.end()) continue;
    to.extras.emplace_back(column.name());
    while (to.extras.back().size() < to.rows()) to.extras.back().push_absent();
  }
  for (CellColumn& target : to.extras) {
    const auto same = [&](const CellColumn& other) { return other.name() == target.name(); };
    const auto source = std::find_if(from.extras.begin(), from.extras.end(), same);
    if (source != from.extras.end()) append_cells(*source, target);
    while (target.size() < to.rows() + from.rows()) target.push_absent();
  }
}

}  // namespace

void append_rows(const History& from, History& to) {
  const auto append = [](const auto& source, auto& target) {
    target.insert(target.end(), source.begin(), source.end());
  };
  for (std::size_t p = 0; p < from.parameters.size(); ++p) {
    if (to.parameters.size() <= p) to.parameters.emplace_back(from.parameters[p].name());
    append_cells(from.parameters[p], to.parameters[p]);
  }
  append_extras(from, to);
  append(from.status, to.status);
  append(from.run_time, to.run_time);
  append(from.compile_time, to.compile_time);
  append(from.sample_count, to.sample_count);
  append(from.samples, to.samples);
}

std::vector<History> taken_apart(const History& all, const StoredProblems& problems,
                                 std::size_t dimensions, std::size_t features) {
  std::vector<History> parts(problems.rows.size());
  std::size_t row = 0;
  std::size_t sample = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    History& part = parts[i];
    const std::size_t rows = problems.rows[i];
    part.kernel = all.kernel;
    part.device = all.device;
    part.driver = all.driver;
    part.inputs = all.inputs;
    part.nanoseconds_per_unit = all.nanoseconds_per_unit;
    part.constraints = all.constraints;
    part.valid_count = problems.valid_count[i];
    part.shape = Shape({problems.dimensions.data() + i * dimensions, dimensions},
                       {problems.features.data() + i * features, features});
    part.parameters = part_of_cells(all.parameters, row, rows);
    for (CellColumn& column : part_of_cells(all.extras, row, rows)) {
      const auto& kinds = column.kinds();
      const bool none = std::all_of(kinds.begin(), kinds.end(),
                                    [](CellKind kind) { return kind == CellKind::absent; });
      if (!none) part.extras.push_back(std::move(column));
    }
    part.status = part_of(all.status, row, rows);
    part.run_time = part_of(all.run_time, row, rows);
    part.compile_time = part_of(all.compile_time, row, rows);
    part.sample_count = part_of(all.sample_count, row, rows);
    std::size_t samples = 0;
    for (const std::uint32_t count : part.sample_count) samples += count;
    part.samples = part_of(all.samples, sample, samples);
    const std::vector<std::string> notes = parts_of(problems.notes.text(i));
    for (std::size_t n = 0; n + 1 < notes.size(); n += 2)
      part.notes.emplace_back(notes[n], notes[n + 1]);
    part.warnings = parts_of(problems.warnings.text(i));
    row += rows;
    sample += samples;
  }
  return parts;
}

}  // namespace idletune
