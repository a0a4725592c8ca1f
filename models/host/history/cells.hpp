// A column of values of mixed kinds, kept exactly as the source had them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace idletune {

// Numbers are stored in files and never change.
enum class CellKind : std::uint8_t {
  absent = 0,
  integer = 1,
  real = 2,
  text = 3,
  boolean = 4,
  json = 5  // anything else, as JSON text
};
inline constexpr std::uint8_t kCellKindCount = 6;

class CellColumn {
 public:
  CellColumn() = default;
  explicit CellColumn(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  std::size_t size() const { return kinds_.size(); }
  CellKind kind(std::size_t row) const { return kinds_[row]; }
  std::int64_t integer(std::size_t row) const { return static_cast<std::int64_t>(bits_[row]); }
  bool boolean(std::size_t row) const { return bits_[row] != 0; }
  double real(std::size_t row) const;
  const std::string& text(std::size_t row) const {
    return texts_[static_cast<std::size_t>(bits_[row])];
  }

  void push_absent();
  void push_integer(std::int64_t value);
  void push_real(double value);
  void push_boolean(bool value);
  // Texts must not contain zero bytes (they are cut there).
  void push_text(std::string_view text, CellKind kind = CellKind::text);

  // A copy of another column's value.
  void push_from(const CellColumn& other, std::size_t row);

  // The value as a tuning parameter's: integers and booleans as they are, whole reals as integers,
  // other reals as their bits, texts as their digest; the same value has the same code everywhere.
  std::int64_t code(std::size_t row) const;
  // The same as one to compare by size; NaN: it is no number.
  double number(std::size_t row) const;
  // For people.
  std::string to_string(std::size_t row) const;

  // For reading and writing files.
  const std::vector<CellKind>& kinds() const { return kinds_; }
  const std::vector<std::uint64_t>& bits() const { return bits_; }
  const std::vector<std::string>& texts() const { return texts_; }
  // The parts must be consistent: equal sizes, text indices in range.
  static CellColumn from_parts(std::string name, std::vector<CellKind> kinds,
                               std::vector<std::uint64_t> bits, std::vector<std::string> texts);

  friend bool operator==(const CellColumn& a, const CellColumn& b) {
    return a.name_ == b.name_ && a.kinds_ == b.kinds_ && a.bits_ == b.bits_ && a.texts_ == b.texts_;
  }

 private:
  void push(CellKind kind, std::uint64_t bits);
  std::string name_;
  std::vector<CellKind> kinds_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::size_t> text_index_;
};

}  // namespace idletune
