#include "models/host/history/cells.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "models/core/bits.hpp"
#include "models/core/digest.hpp"
#include "models/core/number_text.hpp"

namespace idletune {

double CellColumn::real(std::size_t row) const {
  double value = 0;
  std::memcpy(&value, &bits_[row], sizeof value);
  return value;
}

void CellColumn::push(CellKind kind, std::uint64_t bits) {
  kinds_.push_back(kind);
  bits_.push_back(bits);
}

void CellColumn::push_absent() { push(CellKind::absent, 0); }
void CellColumn::push_integer(std::int64_t value) {
  push(CellKind::integer, static_cast<std::uint64_t>(value));
}
void CellColumn::push_real(double value) { push(CellKind::real, bits_of(value)); }
void CellColumn::push_boolean(bool value) { push(CellKind::boolean, value ? 1 : 0); }

void CellColumn::push_text(std::string_view text, CellKind kind) {
  const std::string owned(text.substr(0, text.find('\0')));
  const auto [position, added] = text_index_.emplace(owned, texts_.size());
  if (added) texts_.push_back(owned);
  push(kind, position->second);
}

void CellColumn::push_from(const CellColumn& other, std::size_t row) {
  const CellKind kind = other.kinds_[row];
  if (kind == CellKind::text || kind == CellKind::json) return push_text(other.text(row), kind);
  push(kind, other.bits_[row]);
}

std::int64_t CellColumn::code(std::size_t row) const {
  switch (kinds_[row]) {
    case CellKind::absent: return 0;
    case CellKind::integer:
    case CellKind::boolean: return integer(row);
    case CellKind::real: {
      const double value = real(row);
      const bool whole = std::abs(value) < 9e15 && std::floor(value) == value;
      return whole ? static_cast<std::int64_t>(value) : static_cast<std::int64_t>(bits_[row]);
    }
    case CellKind::text:
    case CellKind::json: return static_cast<std::int64_t>(digest_of(std::string_view(text(row))));
  }
  return 0;
}

double CellColumn::number(std::size_t row) const {
  switch (kind(row)) {
    case CellKind::integer: return static_cast<double>(integer(row));
    case CellKind::real: return real(row);
    case CellKind::boolean: return boolean(row) ? 1 : 0;
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

std::string CellColumn::to_string(std::size_t row) const {
  switch (kinds_[row]) {
    case CellKind::absent: return "";
    case CellKind::integer: return std::to_string(integer(row));
    case CellKind::boolean: return boolean(row) ? "True" : "False";
    case CellKind::real: return number_text(real(row), 17);
    case CellKind::text:
    case CellKind::json: return text(row);
  }
  return "";
}

CellColumn CellColumn::from_parts(std::string name, std::vector<CellKind> kinds,
                                  std::vector<std::uint64_t> bits, std::vector<std::string> texts) {
  CellColumn column(std::move(name));
  column.kinds_ = std::move(kinds);
  column.bits_ = std::move(bits);
  column.texts_ = std::move(texts);
  for (std::size_t i = 0; i < column.texts_.size(); ++i)
    column.text_index_.emplace(column.texts_[i], i);
  return column;
}

}  // namespace idletune
