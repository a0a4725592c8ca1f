// How text is laid out on a terminal: widths, lines that break between words, tables.
#pragma once

#include "agent/host/report/common.hpp"

namespace idletune::cli {

// What a terminal is sent of a text with names from elsewhere: no character of it moves the cursor,
// turns the direction or is invisible, and bytes that are no UTF-8 are shown as such ("\x1b"). The
// signs of units that not every terminal has become plain ones. `lines`: line ends stay.
std::string terminal_text(const std::string& text, bool lines = false);

// Columns that a UTF-8 text takes on a terminal.
std::size_t display_width(const std::string& text);

// The text, or where it is wider than `width` its beginning and its end around "..".
std::string fitted(const std::string& text, std::size_t width);

// Columns of the terminal that the file (standard output) is; 0 where it is none.
std::size_t terminal_columns(int file = 1);

// The words of `text` in lines of at most `width` columns, without the lines' ends. A line breaks
// between words only; a longer word has a line of its own.
std::vector<std::string> lines_of(const std::string& text, std::size_t width);

// The same with `first` before the first line and as many blanks before the others, each line
// ended by a newline.
std::string paragraph(const std::string& first, const std::string& text, std::size_t width = 80);

// A table of text, printed with its columns aligned. Cells are single lines of UTF-8.
class TextTable {
 public:
  // What a table may take where nothing says otherwise.
  static constexpr std::size_t kWidth = 100;

  // A title behind ">" is that of a column aligned to the right.
  explicit TextTable(const std::vector<std::string>& titles);
  // Missing cells are empty; surplus ones are dropped.
  void add_row(std::vector<std::string> cells);
  // The table as lines, each ended by a newline; the titles first; no trailing blanks. One that is
  // wider than `width` is folded: titles and texts take several lines, and columns that still find
  // no place follow in a second table that begins with the same keys: the first column, and the
  // texts behind it. Keys that would leave no room for others are cut in the middle.
  std::string to_string(std::size_t width = kWidth) const;

 private:
  struct Column {
    std::string title;
    bool right;
  };
  std::vector<std::size_t> natural_widths() const;
  using Widths = std::vector<std::size_t>;  // of the columns
  void fold(Widths& widths, const Widths& least, std::size_t width) const;
  std::size_t keys() const;
  std::size_t longest_word(std::size_t column) const;
  std::string part(const std::vector<std::size_t>& columns, const Widths& widths,
                   const Widths& least) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace idletune::cli
