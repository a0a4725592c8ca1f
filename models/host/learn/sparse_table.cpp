#include "models/host/learn/sparse_table.hpp"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "models/host/history/json_cells.hpp"

namespace idletune::sparse {
namespace {

using Json = nlohmann::ordered_json;

// What the note on the matrix says; nothing where there is none, or another one.
struct Note {
  Matrix matrix;
  std::optional<std::size_t> format;
  std::size_t number_bytes = 0;
  double conversion_ns = 0;
  bool turns = false;  // its candidates took turns
};

std::optional<Note> note_of(const History& history) {
  for (const auto& [key, text] : history.notes) {
    if (key != "matrix") continue;
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("features") || !json.contains("name")) return {};
    Note note;
    note.matrix.name = json["name"].is_string() ? json["name"].get<std::string>() : "";
    note.matrix.family = note.matrix.name;
    if (json.contains("family") && json["family"].is_string())
      note.matrix.family = json["family"].get<std::string>();
    for (const Json& value : json["features"]) {
      if (!value.is_number()) return {};
      note.matrix.features.push_back(value.get<double>());
    }
    if (note.matrix.features.size() != kMatrixFeatures) return {};
    const Json format = json.value("format", Json(""));
    const Json bytes = json.value("number_bytes", Json(0));
    const Json conversion = json.value("conversion_ns", Json(0));
    const Json turns = json.value("turns", Json(false));
    if (!format.is_string() || !is_whole_number(bytes) || bytes < 0 || !conversion.is_number() ||
        !turns.is_boolean())
      return {};
    for (std::size_t f = 0; f < kFormats; ++f) {
      if (format == kFormatNames[f]) note.format = f;
    }
    note.number_bytes = bytes.get<std::size_t>();
    note.conversion_ns = conversion.get<double>();
    note.turns = turns.get<bool>();
    return note;
  }
  return {};
}

double dimension(const History& history, const char* name, double otherwise) {
  for (std::size_t i = 0; i < history.inputs.size() && i < history.shape.input_count(); ++i) {
    if (history.inputs[i] == name) return history.shape.input(i);
  }
  return otherwise;
}

double slots_of(const History& history) {
  const double slots = dimension(history, "SLOTS", -1);
  if (slots >= 0) return slots;
  const double rows = dimension(history, "ROWS", 0);
  const double diagonals = dimension(history, "DIAGONALS", -1);
  if (diagonals >= 0) return rows * diagonals;
  const double width = dimension(history, "WIDTH", -1);
  if (width >= 0) return rows * width + dimension(history, "REST", 0);
  return dimension(history, "ENTRIES", 0);
}

std::optional<std::int64_t> parameter(const History& history, std::size_t row, const char* name) {
  for (const CellColumn& column : history.parameters) {
    if (column.name() == name) return column.code(row);
  }
  return {};
}

double smallest_ns(const History& history, std::size_t row,
                   const std::vector<std::size_t>& offsets) {
  if (!history.correct(row)) return 0;
  double smallest = history.run_time_ns(row);
  for (std::size_t i = offsets[row]; i < offsets[row + 1]; ++i)
    smallest = std::min(smallest, history.samples[i] * history.nanoseconds_per_unit);
  return smallest > 0 ? smallest : 0;
}

// Of every second sample from `first` on.
double half_ns(const History& history, std::size_t begin, std::size_t end, std::size_t first,
               bool turns) {
  std::vector<double> half;
  for (std::size_t i = begin + first; i < end; i += 2)
    half.push_back(history.samples[i] * history.nanoseconds_per_unit);
  std::sort(half.begin(), half.end());
  return half[turns ? half.size() / 2 : 0];
}

template <class Item, class Same>
std::size_t place_of(std::vector<Item>& items, const Same& same, const Item& otherwise) {
  const auto found = std::find_if(items.begin(), items.end(), same);
  if (found != items.end()) return static_cast<std::size_t>(found - items.begin());
  items.push_back(otherwise);
  return items.size() - 1;
}

void add(const History& history, const Note& note, Table& table) {
  const std::size_t format = *note.format;
  const std::size_t m = place_of(
      table.matrices, [&](const Matrix& known) { return known.name == note.matrix.name; },
      note.matrix);
  for (auto* times : {&table.ns, &table.half_ns[0], &table.half_ns[1]})
    times->resize(table.matrices.size());
  table.matrices[m].slots[format] = slots_of(history);
  table.matrices[m].conversion_ns[format] = note.conversion_ns;
  const std::vector<std::size_t> offsets = history.sample_offsets();
  for (std::size_t row = 0; row < history.rows(); ++row) {
    const auto group = parameter(history, row, "GROUP_PER_ROW");
    const auto size = parameter(history, row, "WG");
    if (!group || !size) continue;
    const std::int64_t lanes = parameter(history, row, "LANES").value_or(1);
    const bool power = lanes > 0 && (lanes & (lanes - 1)) == 0;
    if (!power || lanes > kMaxRowItems || *size < lanes || *size > 65536) continue;
    const ProductCandidate wanted{static_cast<std::uint8_t>(format),
                                  static_cast<std::uint8_t>(*group != 0 ? 1
                                                            : lanes > 1 ? lanes
                                                                        : 0),
                                  static_cast<std::uint32_t>(*size)};
    const std::size_t c = place_of(
        table.candidates,
        [&](const ProductCandidate& known) {
          return known.format == wanted.format && known.kernel == wanted.kernel &&
                 known.work_group == wanted.work_group;
        },
        wanted);
    for (auto* times : {&table.ns[m], &table.half_ns[0][m], &table.half_ns[1][m]})
      if (times->size() <= c) times->resize(c + 1, 0.0);
    const double smallest = smallest_ns(history, row, offsets);
    const double ns = note.turns && smallest > 0 ? history.run_time_ns(row) : smallest;
    if (table.ns[m][c] > 0 && (ns <= 0 || ns >= table.ns[m][c])) continue;  // of a repeat
    table.ns[m][c] = ns;
    const bool halves = ns > 0 && offsets[row + 1] - offsets[row] >= 4;
    for (const std::size_t h : {0, 1})
      table.half_ns[h][m][c] =
          halves ? half_ns(history, offsets[row], offsets[row + 1], h, note.turns) : ns;
  }
}

template <class Wanted>
double best_of(const Table& table, std::size_t matrix, const Wanted& wanted) {
  double best = 0;
  for (std::size_t c = 0; c < table.candidates.size(); ++c) {
    const double ns = table.ns[matrix][c];
    if (ns > 0 && wanted(table.candidates[c]) && (best == 0 || ns < best)) best = ns;
  }
  return best;
}

}  // namespace

double Table::best_ns(std::size_t matrix) const {
  return best_of(*this, matrix, [](const ProductCandidate&) { return true; });
}

double Table::best_ns(std::size_t matrix, std::uint8_t format) const {
  return best_of(*this, matrix, [&](const ProductCandidate& c) { return c.format == format; });
}

double Table::best_ns(std::size_t matrix, std::uint8_t format, std::uint8_t kernel) const {
  return best_of(*this, matrix, [&](const ProductCandidate& c) {
    return c.format == format && c.kernel == kernel;
  });
}

std::vector<Table> tables_of(const std::vector<const History*>& histories) {
  std::vector<Table> tables;
  for (const History* history : histories) {
    const auto note = note_of(*history);
    if (!note || !note->format) continue;
    Table made;
    made.device = history->device;
    made.number_bytes = note->number_bytes;
    const std::size_t t = place_of(
        tables,
        [&](const Table& known) {
          return known.device == made.device && known.number_bytes == made.number_bytes;
        },
        made);
    add(*history, *note, tables[t]);
  }
  for (Table& table : tables) {
    for (auto* all : {&table.ns, &table.half_ns[0], &table.half_ns[1]})
      for (std::vector<double>& times : *all) times.resize(table.candidates.size(), 0.0);
  }
  return tables;
}

std::vector<VectorTable> vector_tables_of(const std::vector<const History*>& histories) {
  std::vector<VectorTable> tables;
  for (const History* history : histories) {
    const auto note = note_of(*history);
    if (!note || note->format) continue;
    VectorTable made;
    made.kernel = history->kernel;
    made.device = history->device;
    const std::size_t t = place_of(
        tables,
        [&](const VectorTable& known) {
          return known.kernel == made.kernel && known.device == made.device;
        },
        made);
    const std::vector<std::size_t> offsets = history->sample_offsets();
    for (std::size_t row = 0; row < history->rows(); ++row) {
      VectorRow added;
      added.length = dimension(*history, "N", 0);
      added.work_group = static_cast<double>(parameter(*history, row, "WG").value_or(0));
      added.ns = smallest_ns(*history, row, offsets);
      const auto vector = parameter(*history, row, "VECTOR");
      const auto sums = parameter(*history, row, "LOCAL_SUMS");
      for (const std::int64_t value : {1, 2, 4, 8, 16})
        if (vector) added.kernel.push_back(*vector == value ? 1 : 0);
      for (const std::int64_t value : {0, 1})
        if (sums) added.kernel.push_back(*sums == value ? 1 : 0);
      if (added.ns > 0) tables[t].rows.push_back(std::move(added));
    }
  }
  return tables;
}

}  // namespace idletune::sparse
