#include "agent/host/cli/text_layout.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include "models/core/utf8.hpp"

namespace idletune::cli {
namespace {

constexpr std::size_t kGap = 2;           // blanks between two columns
constexpr std::size_t kLeastColumn = 16;  // a column of text is not made narrower
constexpr std::size_t kLongWord = 32;     // a longer one may be broken amid
constexpr std::size_t kMostKeys = 4;      // columns that tell rows apart
constexpr std::size_t kLeastKey = 8;

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

Character character_at(const std::string& text, std::size_t at) {
  return first_character(std::string_view(text).substr(at));
}

using Range = std::pair<std::uint32_t, std::uint32_t>;

template <std::size_t N>
bool is_in(const Range (&ranges)[N], std::uint32_t value) {
  return std::any_of(ranges, ranges + N, [value](const Range& range) {
    return value >= range.first && value <= range.second;
  });
}

constexpr Range kCombining[] = {
    {0x300, 0x36F}, {0x1AB0, 0x1AFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
constexpr Range kWide[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                           {0xF900, 0xFAFF}, {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                           {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};

std::size_t columns_of(const Character& character) {
  if (is_in(kCombining, character.code)) return 0;
  return is_in(kWide, character.code) ? 2 : 1;
}

// The longest beginning within `width` columns, in bytes.
std::size_t bytes_within(const std::string& text, std::size_t width) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = character_at(text, at);
    columns += columns_of(next);
    if (columns > width) return at;
    at += next.bytes;
  }
  return text.size();
}

// Cuts a word that is wider than `width` into pieces, never amid a character.
std::vector<std::string> pieces_of(std::string word, std::size_t width) {
  std::vector<std::string> pieces;
  do {
    const std::size_t least = word.empty() ? 0 : character_at(word, 0).bytes;
    pieces.push_back(word.substr(0, std::max(least, bytes_within(word, width))));
    word.erase(0, pieces.back().size());
  } while (!word.empty());
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

void append_cell(std::string& line, const std::string& cell, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, display_width(cell)), ' ');
  line += right ? blanks + cell : cell + blanks;
}

}  // namespace

std::string terminal_text(const std::string& text, bool lines) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = character_at(text, at);
    const bool line_end = lines && next.code == '\n';
    if (next.well_formed && next.code == 0xA0) {
      result += ' ';
    } else if (next.well_formed && next.code == 0xB5) {
      result += 'u';
    } else if (line_end || is_shown(next)) {
      result.append(text, at, next.bytes);
    } else {
      char buffer[16];
      const char* const format = next.code < 0x100 ? "\\x%02x" : "\\u%04x";
      std::snprintf(buffer, sizeof buffer, format, static_cast<unsigned>(next.code));
      result += next.code == '\n' ? "\\n" : buffer;
    }
    at += next.bytes;
  }
  return result;
}

std::size_t display_width(const std::string& text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = character_at(text, at);
    columns += columns_of(next);
    at += next.bytes;
  }
  return columns;
}

std::string fitted(const std::string& text, std::size_t width) {
  const std::size_t all = display_width(text);
  if (all <= width) return text;
  if (width < 8) return text.substr(0, bytes_within(text, width));
  const std::size_t end = (width - 2) / 2;
  const std::size_t tail = bytes_within(text, all - end);
  return text.substr(0, bytes_within(text, width - 2 - end)) + ".." + text.substr(tail);
}

std::size_t terminal_columns(int file) {
  winsize size{};
  if (::isatty(file) == 0) return 0;
  return ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
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
  for (const std::string& line : lines_of(terminal_text(text), width - std::min(width, indent))) {
    result += (result.empty() ? first : std::string(indent, ' ')) + line;
    result.erase(result.find_last_not_of(' ') + 1);
    result += '\n';
  }
  return result;
}

TextTable::TextTable(const std::vector<std::string>& titles) {
  for (const std::string& title : titles) {
    const bool right = title.rfind('>', 0) == 0;
    columns_.push_back({terminal_text(title.substr(right ? 1 : 0)), right});
  }
}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = terminal_text(cell);
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
  if (!columns_[column].right) {
    for (const auto& row : rows_) look(row[column], kLongWord);
    return std::max(longest, kLeastColumn);
  }
  for (const auto& row : rows_) longest = std::max(longest, display_width(row[column]));
  return longest;
}

// Takes from the widest column first, until the table fits or nothing can give. Titles of numbers
// come before texts: a number is not harder to read below two lines of title.
void TextTable::fold(Widths& widths, const Widths& least, std::size_t width) const {
  for (const bool right : {true, false}) {
    while (total_of(widths) > width) {
      std::size_t widest = widths.size();
      for (std::size_t i = 0; i < widths.size(); ++i) {
        if (columns_[i].right != right || widths[i] <= least[i]) continue;
        if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
      }
      if (widest == widths.size()) break;
      --widths[widest];
    }
  }
}

std::string TextTable::part(const std::vector<std::size_t>& columns, const Widths& widths,
                            const Widths& least) const {
  std::string text;
  const auto append_row = [&](const auto& cell_of, bool title) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (const std::size_t column : columns) {
      const bool cut = !title && column < keys() && least[column] > widths[column];
      const std::string cell =
          cut ? fitted(cell_of(column), widths[column]) : std::string(cell_of(column));
      cells.push_back(cell_lines(cell, widths[column]));
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
                    columns_[columns[i]].right);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
  };
  append_row([&](std::size_t i) { return columns_[i].title; }, true);
  for (const auto& row : rows_) append_row([&](std::size_t i) { return row[i]; }, false);
  return text;
}

std::size_t TextTable::keys() const {
  std::size_t count = std::min<std::size_t>(columns_.size(), 1);
  while (count < columns_.size() && count < kMostKeys && !columns_[count].right &&
         !columns_[count - 1].right)
    ++count;
  return count;
}

std::string TextTable::to_string(std::size_t width) const {
  Widths widths = natural_widths();
  Widths least;
  for (std::size_t i = 0; i < columns_.size(); ++i) least.push_back(longest_word(i));
  if (total_of(widths) > width) fold(widths, least, width);
  const auto first = widths.begin();
  const auto last = first + static_cast<std::ptrdiff_t>(keys());
  while (total_of(widths) > width && total_of({first, last}) > width * 2 / 3) {
    const auto widest = std::max_element(first, last);
    if (*widest <= kLeastKey) break;
    --*widest;
  }
  std::string text;
  for (std::size_t next = 0; next < columns_.size();) {
    std::vector<std::size_t> columns;
    if (next > 0) columns.resize(keys());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    std::size_t taken = next > 0 ? total_of({first, last}) : 0;
    const std::size_t repeated = columns.size();
    while (next < columns_.size()) {
      const std::size_t more = widths[next] + (columns.empty() ? 0 : kGap);
      if (columns.size() > repeated && taken + more > width) break;
      columns.push_back(next++);
      taken += more;
    }
    text += (text.empty() ? "" : "\n") + part(columns, widths, least);
  }
  return text;
}

}  // namespace idletune::cli
