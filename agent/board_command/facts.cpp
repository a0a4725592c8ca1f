#include "agent/board_command/facts.hpp"

#include <idletune/text.hpp>

#include <utility>

#include "models/core/utf8.hpp"

namespace idletune::board {

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character next = first_character(text);
    out += is_shown(next) ? text.substr(0, next.bytes) : "?";
    text.remove_prefix(next.bytes);
  }
  return out;
}

namespace {

// Further in by two, behind `mark`.
std::string indented(std::string_view lines, char mark) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n') + 1;
    out += {' ', ' ', std::exchange(mark, ' '), ' '};
    out += lines.substr(0, end);
    lines.remove_prefix(end);
  }
  return out;
}

}  // namespace

void Facts::line(const char* name, std::string_view value) {
  for (const char* c = name; *c != '\0'; ++c) lines_ += *c == '_' ? ' ' : *c;
  append(lines_, value.empty() ? ":%\n" : ": %\n", value);
}

void Facts::text(const char* name, std::string_view value) {
  const std::string shown = printable(value);
  if (json_) return object_.text(name, std::string_view(shown));
  line(name, shown);
}

void Facts::count(const char* name, std::uint64_t value) {
  if (json_) return object_.counts(name, {value});
  line(name, joined("%", value));
}

void Facts::number(const char* name, double value) {
  if (json_) return object_.numbers(name, {value});
  line(name, number_text(value, 5));
}

void Facts::number(const char* name, std::optional<double> value) {
  if (value) return number(name, *value);
  nothing(name);
}

void Facts::flag(const char* name, bool value) {
  if (json_) return object_.flag(name, value);
  line(name, value ? "yes" : "no");
}

void Facts::nothing(const char* name) {
  if (json_) return object_.raw(name, "null");
  line(name, "-");
}

void Facts::object(const char* name, Facts facts) {
  if (json_) return object_.raw(name, facts.finish());
  line(name, "");
  lines_ += indented(facts.lines_, ' ');
}

void Facts::list(const char* name, std::vector<Facts> items) {
  if (!json_) {
    line(name, items.empty() ? "none" : "");
    for (const Facts& item : items) lines_ += indented(item.lines_, '-');
    return;
  }
  std::string all = "[";
  for (Facts& item : items) {
    if (all.size() > 1) all += ", ";
    all += item.finish();
  }
  object_.raw(name, all + "]");
}

std::string Facts::finish() { return json_ ? object_.finish() : std::move(lines_); }

}  // namespace idletune::board
