#include "agent/cli/context.hpp"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

namespace idletune::cli {
namespace {

// Columns that a UTF-8 text takes on a terminal, counting one per code point.
std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
  }));
}

void append_cell(std::string& line, const std::string& cell, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, display_width(cell)), ' ');
  line += align == Align::right ? blanks + cell : cell + blanks;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void say(const char* kind, const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "idletune: %s%s\n", kind, one_line(message).c_str());
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::to_string() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i]));
    widths.push_back(width);
  }
  std::string text;
  const auto append_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) line += "  ";
      append_cell(line, cell_of(i), widths[i], columns_[i].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  append_line([&](std::size_t i) { return columns_[i].title; });
  for (const auto& row : rows_) append_line([&](std::size_t i) { return row[i]; });
  return text;
}

void CliContext::add_json_flag(Verb verb) {
  verb.flag("--json", json_, "print one JSON object instead of text");
}

void CliContext::print(const std::string& text) const {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (text.empty() || text.back() != '\n') std::fputc('\n', stdout);
}

void CliContext::print(const TextTable& table) const { print(table.to_string()); }

void CliContext::print_json(const nlohmann::json& object) const {
  // Bytes that are not UTF-8 (names from foreign files) become U+FFFD instead of an exception.
  print(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void CliContext::warn(const std::string& message) const { say("warning: ", message); }

void CliContext::fail(const Status& status) { fail(status.to_string()); }

void CliContext::fail(const std::string& message) {
  say("", message);
  exit_status_ = 1;
}

void CliContext::used_wrongly(const std::string& message) {
  say("", message);
  exit_status_ = 2;
}

void log_to_standard_error(void*, int, const char* message) { say("", message); }

}  // namespace idletune::cli
