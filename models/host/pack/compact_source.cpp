#include "models/host/pack/portable_dialect.hpp"

#include <cstddef>

namespace idletune::package {
namespace {

// The end of the comment, string or character that begins at `at`; `at` itself where none does. Of
// a comment to the end of the line the line's end is no part.
std::size_t end_of_special(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.substr(0, 2) == "//") {
    std::size_t end = text.find('\n', at);
    while (end < text.size() && text[end - 1] == '\\') end = text.find('\n', end + 1);
    return end == std::string_view::npos ? text.size() : end;
  }
  if (rest.substr(0, 2) == "/*") {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (rest[0] != '"' && rest[0] != '\'') return at;
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != rest[0] && text[end] != '\n') {
    end += text[end] == '\\' ? 2 : 1;
  }
  return end < text.size() ? end + 1 : text.size();
}

// Whether a blank behind the text tells words apart: it does on a line that goes on right behind
// one.
bool parts(std::string_view text) {
  if (text.empty() || text.back() != '\n') return !text.empty();
  const std::size_t size = text.size();
  return size > 2 && text[size - 2] == '\\' && text[size - 3] != ' ' && text[size - 3] != '\n';
}

// With lines that end as on Unix.
std::string unix_lines(std::string_view text) {
  std::string lines;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) != "\r\n") lines += text[i];
  }
  return lines;
}

}  // namespace

std::string compact_source(std::string_view original) {
  const std::string lines = unix_lines(original);
  const std::string_view source = lines;
  std::string text;
  bool blank = false;      // one is due before what comes next on this line
  bool directive = false;  // which ends with its line, and does not within a comment
  for (std::size_t i = 0; i < source.size();) {
    const char c = source[i];
    const std::size_t end = end_of_special(source, i);
    if (c == '\n') {
      directive = directive && text.back() == '\\';
      text += c;
      blank = false;
      ++i;
    } else if (c == ' ' || c == '\t' || (end > i && c == '/')) {
      blank = parts(text);
      const std::size_t next = end > i ? end : i + 1;
      for (; i < next; ++i) {
        if (source[i] == '\n') text += directive ? " \\\n" : "\n";
      }
    } else {
      directive = directive || (c == '#' && (text.empty() || text.back() == '\n'));
      if (blank) text += ' ';
      blank = false;
      const std::size_t next = end > i ? end : i + 1;
      text += source.substr(i, next - i);
      i = next;
    }
  }
  return text;
}

}  // namespace idletune::package
