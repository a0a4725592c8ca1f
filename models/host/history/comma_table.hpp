// Text tables with a line of column names and values separated by commas. Host side.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune {

// Values are kept as texts. What stands in quotation marks may hold commas; the marks are left out.
class CommaTable {
 public:
  // The bytes may be gzip. Errors name the file and the line: corrupt (no line of names, a name
  // twice, a line with another number of values, a packed stream that ends early), out_of_memory
  // (more than `most_bytes` unpacked).
  static Result<CommaTable> parse(Bytes bytes, const std::string& path,
                                  std::size_t most_bytes = std::size_t{1} << 30);

  std::size_t rows() const { return names_.empty() ? 0 : cells_.size() / names_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& path() const { return path_; }
  // names().size() if there is none of that name.
  std::size_t find(std::string_view name) const;
  // corrupt, naming those that are missing.
  Status require(std::initializer_list<const char*> names) const;
  // `column` must be one.
  std::string_view text(std::size_t row, std::size_t column) const {
    return cells_[row * names_.size() + column];
  }
  std::string_view text(std::size_t row, std::string_view column) const {
    return text(row, find(column));
  }
  // NaN for what is no number, or is empty.
  double number(std::size_t row, std::size_t column) const;
  double number(std::size_t row, std::string_view column) const {
    return number(row, find(column));
  }
  // "times.csv, line 7": where a row stands.
  std::string place(std::size_t row) const;

 private:
  std::string path_;
  std::vector<std::string> names_;
  std::vector<std::string> cells_;
  std::vector<std::size_t> lines_;
};

}  // namespace idletune
