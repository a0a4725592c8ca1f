#include "agent/cli/text_layout.hpp"

#include <algorithm>
#include <numeric>

#include <sys/ioctl.h>
#include <unistd.h>

namespace idletune::cli {
namespace {

constexpr std::size_t kGap = 2;           // blanks between two columns
constexpr std::size_t kLeastColumn = 16;  // a column of text is not made narrower
constexpr std::size_t kLongWord = 32;     // a longer one may be broken amid

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::size_t total_of(const std::vector<std::size_t>& widths) {
  const std::size_t gaps = widths.empty() ? 0 : kGap * (widths.size() - 1);
  return std::accumulate(widths.begin(), widths.end(), gaps);
}

// Cuts a word that is wider than `width` into pieces, never amid a character.
std::vector<std::string> pieces_of(const std::string& word, std::size_t width) {
  std::vector<std::string> pieces{""};
  std::size_t columns = 0;
  for (const char c : word) {
    const bool begins = (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
    if (begins && columns == width) {
      pieces.emplace_back();
      columns = 0;
    }
    columns += begins ? 1 : 0;
    pieces.back() += c;
  }
  return pieces;
}

// The lines of a cell: like lines_of, but no line is wider than the column.
std::vector<std::string> cell_lines(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return {text};
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(text, width)) {
    for (std::string& piece : pieces_of(line, width)) lines.push_back(std::move(piece));
  }
  return lines;
}

void append_cell(std::string& line, const std::string& cell, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, display_width(cell)), ' ');
  line += align == Align::right ? blanks + cell : cell + blanks;
}

}  // namespace

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
  }));
}

std::size_t terminal_columns() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0) return 0;
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::vector<std::string> lines_of(const std::string& text, std::size_t width) {
  std::vector<std::string> lines{""};
  for (const std::string& word : words_of(text)) {
    const std::size_t taken = display_width(lines.back());
    if (taken > 0 && taken + 1 + display_width(word) > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

std::string paragraph(const std::string& first, const std::string& text, std::size_t width) {
  const std::size_t indent = display_width(first);
  std::string result;
  for (const std::string& line : lines_of(text, width - std::min(width, indent))) {
    result += (result.empty() ? first : std::string(indent, ' ')) + line;
    result.erase(result.find_last_not_of(' ') + 1);
    result += '\n';
  }
  return result;
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::natural_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i]));
    widths.push_back(width);
  }
  return widths;
}

std::size_t TextTable::longest_word(std::size_t column) const {
  std::size_t longest = 0;
  const auto look = [&](const std::string& text, std::size_t limit) {
    for (const std::string& word : words_of(text)) {
      if (display_width(word) <= limit) longest = std::max(longest, display_width(word));
    }
  };
  look(columns_[column].title, static_cast<std::size_t>(-1));
  if (columns_[column].align == Align::left) {
    for (const auto& row : rows_) look(row[column], kLongWord);
    return std::max(longest, kLeastColumn);
  }
  for (const auto& row : rows_) longest = std::max(longest, display_width(row[column]));
  return longest;
}

// Takes from the widest column first, until the table fits or nothing can give. Titles of numbers
// come before texts: a number is not harder to read below two lines of title.
void TextTable::fold(std::vector<std::size_t>& widths, std::size_t width) const {
  for (const Align align : {Align::right, Align::left}) {
    while (total_of(widths) > width) {
      std::size_t widest = widths.size();
      for (std::size_t i = 0; i < widths.size(); ++i) {
        if (columns_[i].align != align || widths[i] <= longest_word(i)) continue;
        if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
      }
      if (widest == widths.size()) break;
      --widths[widest];
    }
  }
}

std::string TextTable::part(const std::vector<std::size_t>& columns,
                            const std::vector<std::size_t>& widths) const {
  std::string text;
  const auto append_row = [&](const auto& cell_of, bool title) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (const std::size_t column : columns) {
      cells.push_back(cell_lines(cell_of(column), widths[column]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t y = 0; y < height; ++y) {
      std::string line;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) line.append(kGap, ' ');
        // Titles stand upon their columns.
        const std::size_t above = title ? height - cells[i].size() : 0;
        const bool inside = y >= above && y - above < cells[i].size();
        append_cell(line, inside ? cells[i][y - above] : "", widths[columns[i]],
                    columns_[columns[i]].align);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
  };
  append_row([&](std::size_t i) { return columns_[i].title; }, true);
  for (const auto& row : rows_) append_row([&](std::size_t i) { return row[i]; }, false);
  return text;
}

std::string TextTable::to_string(std::size_t width) const {
  std::vector<std::size_t> widths = natural_widths();
  if (total_of(widths) > width) fold(widths, width);
  std::string text;
  for (std::size_t next = 0; next < columns_.size();) {
    std::vector<std::size_t> columns;
    std::size_t taken = 0;
    if (next > 0) columns.push_back(0), taken = widths[0];
    const std::size_t repeated = columns.size();
    while (next < columns_.size()) {
      const std::size_t more = widths[next] + (columns.empty() ? 0 : kGap);
      if (columns.size() > repeated && taken + more > width) break;
      columns.push_back(next++);
      taken += more;
    }
    text += (text.empty() ? "" : "\n") + part(columns, widths);
  }
  return text;
}

}  // namespace idletune::cli
