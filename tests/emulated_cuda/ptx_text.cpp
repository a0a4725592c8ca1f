#include "tests/emulated_cuda/ptx_text.hpp"

#include <algorithm>
#include <charconv>

#include "platform/cuda/driver_api.hpp"
#include "tests/emulated_cuda/problem.hpp"

namespace emulated_cuda {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '%';
}

bool opens(char c) { return c == '{' || c == '[' || c == '('; }
bool closes(char c) { return c == '}' || c == ']' || c == ')'; }

// Comments become blanks, so that lines keep their numbers.
std::string without_comments(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string_view here = source.substr(i, 2);
    if (here == "//") {
      i = std::min(source.find('\n', i), source.size());
      if (i < source.size()) text += '\n';
    } else if (here == "/*") {
      const std::size_t end = std::min(source.find("*/", i + 2), source.size());
      const auto lines = std::count(source.begin() + static_cast<std::ptrdiff_t>(i),
                                    source.begin() + static_cast<std::ptrdiff_t>(end), '\n');
      text.append(static_cast<std::size_t>(lines), '\n');
      text += ' ';
      i = end + 1;
    } else if (source[i] != '\0') {
      text += source[i];
    }
  }
  return text;
}

}  // namespace

std::string trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return std::string(text);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (trimmed(text).empty()) return parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += opens(text[i]) ? 1 : closes(text[i]) ? -1 : 0;
    if (text[i] != separator || depth != 0) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (char c : text) {
    if (!is_blank(c) && c != '[' && c != ']') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

bool parse_integer(std::string_view text, std::uint64_t& value) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    text.remove_prefix(2);
  }
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value, base);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return false;
  if (negative) value = 0 - value;
  return true;
}

PtxText::PtxText(std::string_view source) : text_(without_comments(source)) {}

void PtxText::fail_at(int line, const std::string& what) {
  throw Problem{idletune::cuda::kInvalidPtx, "PTX line " + std::to_string(line) + ": " + what};
}

void PtxText::skip_character() {
  if (at_end()) return;
  if (text_[at_++] == '\n') ++line_;
}

void PtxText::skip_blanks() {
  while (!at_end() && is_blank(text_[at_])) skip_character();
}

std::string PtxText::rest_of_line() {
  const std::size_t begin = at_;
  at_ = std::min(text_.find('\n', at_), text_.size());
  return text_.substr(begin, at_ - begin);
}

bool PtxText::at_word(std::string_view word) const {
  if (text_.compare(at_, word.size(), word) != 0) return false;
  const std::size_t behind = at_ + word.size();
  return behind >= text_.size() || !is_word(text_[behind]);
}

std::string PtxText::until(std::string_view ends, char& end) {
  const int from = line_;
  int depth = 0;
  std::string found;
  while (!at_end()) {
    const char c = text_[at_];
    skip_character();
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth == 0 && ends.find(c) != std::string_view::npos) {
      end = c;
      return found;
    }
    found += c;
  }
  fail_at(from, "the text ends within '" + trimmed(found).substr(0, 40) + "'");
}

std::string PtxText::label() {
  std::size_t end = at_;
  while (end < text_.size() && is_word(text_[end])) ++end;
  if (end == at_ || end >= text_.size() || text_[end] != ':') return {};
  std::string name = text_.substr(at_, end - at_);
  at_ = end + 1;
  return name;
}

void PtxText::skip_braces() {
  const int from = line_;
  int depth = 0;
  do {
    if (at_end()) fail_at(from, "a brace that nothing closes");
    if (next() == '{') ++depth;
    if (next() == '}') --depth;
    skip_character();
  } while (depth > 0);
}

Statement::Statement(std::string_view text, int ptx_line) : line(ptx_line) {
  std::string rest = trimmed(text);
  const auto word = [&] {
    const std::size_t end = std::min(rest.find_first_of(" \t\r\n"), rest.size());
    std::string first = rest.substr(0, end);
    rest = trimmed(rest.substr(end));
    return first;
  };
  if (!rest.empty() && rest[0] == '@') guard = word().substr(1);
  opcode = word();
  modifiers = split(opcode, '.');
  if (modifiers.empty()) PtxText::fail_at(line, "a guard without an instruction");
  base = modifiers.front();
  modifiers.erase(modifiers.begin());
  operands = split(rest, ',');
}

bool Statement::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

}  // namespace emulated_cuda
