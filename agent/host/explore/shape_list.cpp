#include "agent/host/explore/shape_list.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>

#include "models/host/history/comma_table.hpp"

namespace idletune::explore {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Where an input's values are: a column of the table, or one value for all.
struct Place {
  std::string name;
  bool feature = false;
  std::optional<std::size_t> column;
  double value = 0;
};

Result<std::vector<Place>> places_of(const CommaTable& table, const ShapeColumns& columns) {
  std::vector<Place> places;
  for (const std::string& name : columns.dimensions) places.push_back({name, false, {}, 0});
  for (const std::string& name : columns.features) places.push_back({name, true, {}, 0});
  std::string missing;
  for (Place& place : places) {
    for (std::size_t c = 0; c < table.names().size(); ++c) {
      if (lower(trimmed(table.names()[c])) == lower(place.name)) place.column = c;
    }
    const auto fixed = std::find_if(columns.fixed.begin(), columns.fixed.end(),
                                    [&](const auto& pair) { return pair.first == place.name; });
    if (fixed != columns.fixed.end()) {
      place.column.reset();
      place.value = fixed->second;
    } else if (!place.column) {
      missing += (missing.empty() ? "" : ", ") + place.name;
    }
  }
  if (missing.empty()) return places;
  return Status(StatusCode::corrupt,
                table.path() + ", line 1: no column " + missing +
                    ": expected a line of names with each of the kernel's dimensions, or a value "
                    "for those that are the same everywhere");
}

bool is_size(double value) {
  return value >= 0 && value <= static_cast<double>(kMaxListedSize) && std::floor(value) == value;
}

Status value_error(const CommaTable& table, std::size_t row, const Place& place,
                   std::string_view text) {
  return Status(StatusCode::corrupt,
                table.place(row) + ": " + place.name + " is '" + std::string(text.substr(0, 40)) +
                    "', expected " +
                    (place.feature ? "a number of at least 0" : "a whole number from 0 to 2^40"));
}

Result<Shape> shape_of(const CommaTable& table, std::size_t row, const std::vector<Place>& places) {
  Shape shape;
  for (const Place& place : places) {
    double value = place.value;
    if (place.column) {
      const std::string_view text = table.text(row, *place.column);
      value = table.number(row, *place.column);
      const bool good = place.feature ? std::isfinite(value) && value >= 0 : is_size(value);
      if (!good) return value_error(table, row, place, text);
    }
    if (place.feature) {
      shape.push_feature(value);
    } else {
      shape.push_back(static_cast<std::int64_t>(value));
    }
  }
  return shape;
}

}  // namespace

Result<std::vector<Shape>> read_shapes(Bytes bytes, const std::string& path,
                                       const ShapeColumns& columns) {
  const Result<CommaTable> table = CommaTable::parse(bytes, path, kMaxShapeListBytes);
  if (!table.ok()) return table.status();
  const Result<std::vector<Place>> places = places_of(*table, columns);
  if (!places.ok()) return places.status();
  if (table->rows() == 0) {
    return Status(StatusCode::corrupt, path + ": no problem: expected one in each further line");
  }
  if (table->rows() > kMaxListedShapes) {
    return Status(StatusCode::corrupt, path + ": " + std::to_string(table->rows()) +
                                           " problems, expected at most " +
                                           std::to_string(kMaxListedShapes));
  }
  std::vector<Shape> shapes;
  std::set<std::vector<std::int64_t>> seen;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const Result<Shape> shape = shape_of(*table, row, *places);
    if (!shape.ok()) return shape.status();
    const auto words = shape->words();
    if (seen.emplace(words.begin(), words.end()).second) shapes.push_back(*shape);
  }
  return shapes;
}

std::string named_shape_table(std::string_view name) {
  std::vector<std::int64_t> sizes;
  if (name == "po2") {
    for (std::int64_t size = 64; size <= 2048; size *= 2) sizes.push_back(size);
  } else if (name == "go2" || name == "go2/8") {
    const std::int64_t step = name == "go2" ? 256 : 32;
    for (std::int64_t i = 1; i <= 15; ++i) sizes.push_back(i * step);
  } else {
    return {};
  }
  std::string table = "M,N,K\n";
  for (const std::int64_t m : sizes) {
    for (const std::int64_t n : sizes) {
      for (const std::int64_t k : sizes) {
        table += std::to_string(m) + ',' + std::to_string(n) + ',' + std::to_string(k) + '\n';
      }
    }
  }
  return table;
}

double extent(const Shape& shape) {
  double product = 1;
  for (const std::int64_t size : shape.values()) {
    if (size > 0) product *= static_cast<double>(size);
  }
  return product;
}

}  // namespace idletune::explore
