#include "models/host/history/comma_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "models/host/history/compression.hpp"

namespace idletune {

namespace {

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

bool has_twice(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

}  // namespace

Result<CommaTable> CommaTable::parse(Bytes bytes, const std::string& path, std::size_t most_bytes) {
  std::string unpacked;
  auto gunzipped = gunzip(bytes, most_bytes, path, unpacked);
  if (!gunzipped.ok()) return gunzipped.status();
  if (gunzipped->truncated) {
    return Status(StatusCode::corrupt, path + ": the packed stream ends early or is damaged");
  }
  CommaTable table;
  table.path_ = path;
  std::string_view rest = gunzipped->text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    std::vector<std::string> cells = split(line);
    if (table.names_.empty()) {
      if (has_twice(cells)) return Status(StatusCode::corrupt, path + ": a column's name is twice");
      table.names_ = std::move(cells);
      continue;
    }
    if (cells.size() != table.names_.size()) {
      return Status(StatusCode::corrupt, path + ", line " + std::to_string(number) + ": " +
                                             std::to_string(cells.size()) + " values instead of " +
                                             std::to_string(table.names_.size()));
    }
    for (std::string& cell : cells) table.cells_.push_back(std::move(cell));
    table.lines_.push_back(number);
  }
  if (table.names_.empty()) return Status(StatusCode::corrupt, path + ": no line of column names");
  return table;
}

std::size_t CommaTable::find(std::string_view name) const {
  return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
}

Status CommaTable::require(std::initializer_list<const char*> names) const {
  std::string missing;
  for (const char* name : names) {
    if (find(name) == names_.size()) missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
  if (missing.empty()) return {};
  return {StatusCode::corrupt, path_ + ": no column " + missing};
}

double CommaTable::number(std::size_t row, std::size_t column) const {
  const std::string& cell = cells_[row * names_.size() + column];
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  const bool good = !cell.empty() && end == cell.c_str() + cell.size();
  return good ? value : std::numeric_limits<double>::quiet_NaN();
}

std::string CommaTable::place(std::size_t row) const {
  return path_ + ", line " + std::to_string(lines_[row]);
}

}  // namespace idletune
