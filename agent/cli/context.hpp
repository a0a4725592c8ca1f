// What every verb of the command line shares: how answers and failures reach the user.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <idletune/result.hpp>

#include "agent/cli/command_line.hpp"
#include "agent/cli/text_layout.hpp"

namespace idletune::cli {

// Used by one thread. Verbs write answers through it: readable text by default, one JSON object
// where the user gave --json, and never both. With --json a failure is an object on standard
// output, too: {schema_version, verb, error: {code, message}}, or `error` in the verb's own object.
class CliContext {
 public:
  // Of every JSON object. It rises when a key goes or changes its meaning, not when one is added.
  static constexpr int kSchemaVersion = 1;

  // The verb that runs: its name stands in messages.
  void begin(const std::string& verb) { verb_ = verb; }
  // Says what is wrong with the command line, if the program was used wrongly; then writes the JSON
  // object that the verb had to say, if any. Call it once, at the end.
  void finish(const std::string& usage_error = std::string());
  // Gives the verb its --json flag.
  void add_json_flag(Verb verb);
  bool json() const { return json_; }
  // --json stands on a command line that may be wrong otherwise.
  void expect_json() { json_ = true; }

  // Standard output.
  void print(const std::string& text) const;
  // At most as wide as the terminal, and as 100 columns.
  void print(const TextTable& table) const;
  // `text` in lines of at most 80 columns, as paragraph() makes them.
  void print_paragraph(const std::string& first, const std::string& text) const;
  // Standard output too, by finish(). Called once at most.
  void print_json(const nlohmann::json& object);

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
  std::string verb_;
  // Shared only because the type is not known here.
  std::shared_ptr<nlohmann::json> answer_;
  std::string error_code_;
  std::string error_message_;
  void say(const char* kind, const std::string& message) const;
  void keep_error(const std::string& code, const std::string& message);
};

// An AgentOptions::log that writes to standard error.
void log_to_standard_error(void* user, int level, const char* message);

}  // namespace idletune::cli
