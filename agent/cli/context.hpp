// What every verb of the command line shares: how answers and failures reach the user.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <idletune/result.hpp>

#include "agent/cli/command_line.hpp"

namespace idletune::cli {

enum class Align { left, right };

// A table of text, printed with its columns aligned. Cells are single lines of UTF-8.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit TextTable(std::vector<Column> columns);
  // Missing cells are empty; surplus ones are dropped.
  void add_row(std::vector<std::string> cells);
  // The table as lines, each ended by a newline; the title line first; no trailing blanks.
  std::string to_string() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Used by one thread. Verbs write answers through it: readable text by default, one JSON object
// where the user gave --json, and never both.
class CliContext {
 public:
  // Gives the verb its --json flag.
  void add_json_flag(Verb verb);
  bool json() const { return json_; }

  // Standard output.
  void print(const std::string& text) const;
  void print(const TextTable& table) const;
  void print_json(const nlohmann::json& object) const;

  // One line on standard error that does not end the program with a failure.
  void warn(const std::string& message) const;
  // Says the failure in one line on standard error; the program will exit with 1.
  void fail(const Status& status);
  void fail(const std::string& message);
  // The arguments contradict each other in a way that the parser does not see; exit with 2.
  void used_wrongly(const std::string& message);

  // 0 done, 1 failed, 2 used wrongly.
  int exit_status() const { return exit_status_; }

 private:
  bool json_ = false;
  int exit_status_ = 0;
};

// An AgentOptions::log that writes to standard error.
void log_to_standard_error(void* user, int level, const char* message);

}  // namespace idletune::cli
