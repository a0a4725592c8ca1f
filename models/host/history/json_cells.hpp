// Between the cells of histories and the values of JSON files. Host side.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "models/host/history/cells.hpp"

namespace idletune {

// Whether it is a whole number that 64 bits with a sign hold.
bool is_whole_number(const nlohmann::ordered_json& value);

// Adds the value as the cell that keeps it best: `json_of` gives it back, but for whole numbers
// beyond 63 bits (nearest double), texts with a zero byte (cut there) and bytes that are no UTF-8.
void push_json(CellColumn& column, const nlohmann::ordered_json& value);

// The cell's value; null for `absent` and for numbers that are not finite.
nlohmann::ordered_json json_of(const CellColumn& column, std::size_t row);

// The JSON text of a value; bytes that are no UTF-8 become U+FFFD.
std::string json_text(const nlohmann::ordered_json& value);
// As Python prints it.
std::string python_text(const nlohmann::ordered_json& value);

// Null where there is none, or `object` is none.
const nlohmann::ordered_json* member_of(const nlohmann::ordered_json& object, const char* key);
// Empty where there is none, or it is no text.
std::string text_member(const nlohmann::ordered_json& object, const char* key);

}  // namespace idletune
