#include "models/host/history/json_cells.hpp"

#include <cmath>
#include <limits>

namespace idletune {

using Json = nlohmann::ordered_json;

std::string json_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_whole_number(const Json& value) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  return value.is_number_integer() &&
         !(value.is_number_unsigned() && value.get<std::uint64_t>() > kLargest);
}

void push_json(CellColumn& column, const Json& value) {
  if (value.is_boolean()) {
    column.push_boolean(value.get<bool>());
  } else if (is_whole_number(value)) {
    column.push_integer(value.get<std::int64_t>());
  } else if (value.is_number()) {
    column.push_real(value.get<double>());
  } else if (value.is_string()) {
    column.push_text(value.get_ref<const std::string&>());
  } else {
    column.push_text(json_text(value), CellKind::json);
  }
}

Json json_of(const CellColumn& column, std::size_t row) {
  switch (column.kind(row)) {
    case CellKind::absent: return nullptr;
    case CellKind::integer: return column.integer(row);
    case CellKind::boolean: return column.boolean(row);
    case CellKind::real:
      return std::isfinite(column.real(row)) ? Json(column.real(row)) : Json(nullptr);
    case CellKind::text: return column.text(row);
    case CellKind::json: {
      const Json parsed = Json::parse(column.text(row), nullptr, false);
      return parsed.is_discarded() ? Json(column.text(row)) : parsed;
    }
  }
  return nullptr;
}

std::string python_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return json_text(value);
}

const Json* member_of(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_member(const Json& object, const char* key) {
  const Json* found = member_of(object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace idletune
