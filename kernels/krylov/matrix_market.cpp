#include "kernels/krylov/matrix_market.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include <idletune/text.hpp>

namespace idletune::krylov {
namespace {

constexpr std::size_t kShortestEntry = 4;  // "1 1\n"
constexpr std::size_t kLongestNumber = 64;
// Rows or columns without any entry that are believed: each of them takes memory, but no bytes of
// the file.
constexpr std::int64_t kMostEmpty = std::int64_t{1} << 24;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The text line by line, and a line word by word.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  // False at the end of the text.
  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return true;
  }
  // Empty where the line has no further word.
  std::string_view word() {
    while (!line_.empty() && is_blank(line_.front())) line_.remove_prefix(1);
    std::size_t size = 0;
    while (size < line_.size() && !is_blank(line_[size])) ++size;
    const std::string_view word = line_.substr(0, size);
    line_.remove_prefix(size);
    return word;
  }
  std::string_view rest() const { return rest_; }
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  std::size_t number_ = 0;
};

bool equal_but_for_case(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() &&
         std::equal(a.begin(), a.end(), lower.begin(), [](char left, char right) {
           return (left >= 'A' && left <= 'Z' ? left - 'A' + 'a' : left) == right;
         });
}

// A finite decimal number. from_chars for doubles is missing in the oldest supported compiler;
// strtod depends on the locale, which the library does not set and the command leaves at "C".
bool parse_number(std::string_view word, double& value) {
  char digits[kLongestNumber + 1];
  if (word.empty() || word.size() > kLongestNumber ||
      word.find_first_not_of("+-.0123456789eE") != std::string_view::npos) {
    return false;
  }
  word.copy(digits, word.size());
  digits[word.size()] = '\0';
  char* end = nullptr;
  value = std::strtod(digits, &end);
  return end == digits + word.size() && std::isfinite(value);
}

bool parse_index(std::string_view word, std::int64_t& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

struct Entry {
  std::int32_t row = 0;
  std::int32_t column = 0;
  double value = 0;
  bool mirrored = false;
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : lines_(text), name_(name) {}

  Result<MatrixMarket> read() {
    Status status = read_banner();
    if (status.ok()) status = read_sizes();
    if (status.ok()) status = read_entries();
    if (status.ok()) status = order_entries();
    if (!status.ok()) return status;
    return std::move(read_);
  }

 private:
  Status refused(const std::string& what, StatusCode code = StatusCode::corrupt) const {
    return {code, "%:%: %", name_, lines_.number(), what};
  }
  bool symmetric() const { return read_.symmetry != "general"; }
  bool skew() const { return read_.symmetry == "skew-symmetric"; }

  Status check_entries(std::uint64_t entries) const {
    if (entries <= std::uint64_t{kMostIndices}) return {};
    return refused(joined("% entries, expected at most %", entries, kMostIndices),
                   StatusCode::out_of_memory);
  }

  Status read_banner();
  Status read_sizes();
  Status read_entries();
  Status read_entry();
  Status order_entries();
  Status merge(const Entry& entry, const Entry* before);

  Lines lines_;
  const std::string& name_;
  MatrixMarket read_;
  std::size_t promised_ = 0;
  std::vector<Entry> entries_;
};

// Takes the word that the line's next one is.
bool one_of(std::string_view word, std::initializer_list<const char*> known, std::string& taken) {
  for (const char* each : known) {
    if (!equal_but_for_case(word, each)) continue;
    taken = each;
    return true;
  }
  return false;
}

Status Reader::read_banner() {
  if (!lines_.next() || lines_.word() != "%%MatrixMarket" ||
      !equal_but_for_case(lines_.word(), "matrix")) {
    return refused("expected a line that begins with '%%MatrixMarket matrix'");
  }
  const std::string_view format = lines_.word();
  if (!equal_but_for_case(format, "coordinate")) {
    return refused(joined("got a matrix as '%', expected 'coordinate'", format),
                   StatusCode::unsupported);
  }
  const std::string_view field = lines_.word();
  if (!one_of(field, {"real", "integer", "pattern"}, read_.field)) {
    return refused(joined("got '%' entries, expected real, integer or pattern", field),
                   StatusCode::unsupported);
  }
  const std::string_view symmetry = lines_.word();
  if (!one_of(symmetry, {"general", "symmetric", "skew-symmetric"}, read_.symmetry)) {
    return refused(
        joined("got a '%' matrix, expected general, symmetric or skew-symmetric", symmetry),
        StatusCode::unsupported);
  }
  return {};
}

Status Reader::read_sizes() {
  std::string_view first;
  do {
    if (!lines_.next()) return refused("the file ends before the line of sizes");
    first = lines_.word();
  } while (first.empty() || first.front() == '%');
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
  if (!parse_index(first, rows) || !parse_index(lines_.word(), columns) ||
      !parse_index(lines_.word(), entries) || !lines_.word().empty()) {
    return refused("expected rows, columns and entries");
  }
  if (rows < 0 || rows > kMostIndices || columns < 0 || columns > kMostIndices || entries < 0) {
    return refused(joined("expected rows and columns from 0 to %", kMostIndices));
  }
  if (symmetric() && rows != columns) {
    return refused(joined("% x %: a symmetric matrix has as many rows as columns", rows, columns));
  }
  if (static_cast<std::uint64_t>(entries) > lines_.rest().size() / kShortestEntry + 1) {
    return refused(
        joined("% entries promised, but only % bytes follow", entries, lines_.rest().size()));
  }
  if (Status status = check_entries(static_cast<std::uint64_t>(entries)); !status.ok())
    return status;
  if (std::max(rows, columns) > entries + kMostEmpty) {
    return refused(
        joined("% x % with % entries; expected at most 2^24 rows and columns more than those", rows,
               columns, entries),
        StatusCode::out_of_memory);
  }
  read_.matrix.pattern.rows = static_cast<std::int32_t>(rows);
  read_.matrix.pattern.columns = static_cast<std::int32_t>(columns);
  promised_ = static_cast<std::size_t>(entries);
  return {};
}

Status Reader::read_entries() {
  entries_.reserve(symmetric() ? 2 * promised_ : promised_);
  while (lines_.next()) {
    if (Status status = read_entry(); !status.ok()) return status;
  }
  if (read_.file_entries == promised_) return {};
  return refused(
      joined("the file ends after % entries, expected %", read_.file_entries, promised_));
}

Status Reader::read_entry() {
  const std::string_view first = lines_.word();
  if (first.empty() || first.front() == '%') return {};
  if (read_.file_entries == promised_)
    return refused(joined("expected no more than % entries", promised_));
  std::int64_t row = 0;
  std::int64_t column = 0;
  const SparsityPattern& pattern = read_.matrix.pattern;
  if (!parse_index(first, row) || !parse_index(lines_.word(), column) || row < 1 ||
      row > pattern.rows || column < 1 || column > pattern.columns) {
    return refused(joined("expected a row from 1 to % and a column to %",
                          std::int64_t{pattern.rows}, std::int64_t{pattern.columns}));
  }
  double value = 1;
  if (read_.field != "pattern" && !parse_number(lines_.word(), value)) {
    return refused("expected a finite number");
  }
  if (!lines_.word().empty()) return refused("more on the line than an entry");
  if (skew() && row == column && value != 0) {
    return refused("a skew-symmetric matrix has zeros on its diagonal");
  }
  ++read_.file_entries;
  if (value == 0) ++read_.explicit_zeros;
  const Entry entry{static_cast<std::int32_t>(row - 1), static_cast<std::int32_t>(column - 1),
                    value, false};
  entries_.push_back(entry);
  if (symmetric() && row != column) {
    entries_.push_back({entry.column, entry.row, skew() ? -value : value, true});
  }
  return {};
}

// An entry in its place, `before` being the one that was put there last, if any.
Status Reader::merge(const Entry& entry, const Entry* before) {
  SparseMatrix& matrix = read_.matrix;
  if (before == nullptr || before->row != entry.row || before->column != entry.column) {
    matrix.pattern.column.push_back(entry.column);
    matrix.values.push_back(entry.value);
    return {};
  }
  if (before->mirrored != entry.mirrored) {
    return refused(joined("row %, column % stands in both halves; expected one half of a % matrix",
                          std::int64_t{entry.row} + 1, std::int64_t{entry.column} + 1,
                          read_.symmetry));
  }
  matrix.values.back() += entry.value;
  if (!entry.mirrored) ++read_.duplicates;
  if (std::isfinite(matrix.values.back())) return {};
  return refused(joined("entries of row %, column % add up to no finite number",
                        std::int64_t{entry.row} + 1, std::int64_t{entry.column} + 1));
}

Status Reader::order_entries() {
  if (Status status = check_entries(entries_.size()); !status.ok()) return status;
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  SparsityPattern& pattern = read_.matrix.pattern;
  pattern.row_start.assign(static_cast<std::size_t>(pattern.rows) + 1, 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Status status = merge(entries_[i], i > 0 ? &entries_[i - 1] : nullptr);
    if (!status.ok()) return status;
    pattern.row_start[static_cast<std::size_t>(entries_[i].row) + 1] =
        static_cast<std::int32_t>(pattern.column.size());
  }
  for (std::size_t row = 1; row < pattern.row_start.size(); ++row) {
    pattern.row_start[row] = std::max(pattern.row_start[row], pattern.row_start[row - 1]);
  }
  return {};
}

}  // namespace

Result<MatrixMarket> read_matrix_market(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

}  // namespace idletune::krylov
