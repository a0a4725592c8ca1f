// What every verb of the command line shares: how answers and failures reach the user.
#pragma once

#include "agent/host/cli/command_line.hpp"
#include "agent/host/cli/text_layout.hpp"

namespace idletune::cli {

// What a verb says that ends with nothing, and with what was finished.
extern const char* const kStopped;
extern const char* const kStoppedEarly;
extern const char* const kNotWritten;

// Used by one thread. Verbs write answers through it: readable text by default, one JSON object
// where the user gave --json, and never both. With --json a failure is an object on standard
// output, too: {schema_version, verb, error: {code, message}}, or `error` in the verb's own object.
class CliContext {
 public:
  // Of every JSON object. It rises when a key goes or changes its meaning, not when one is added.
  static constexpr int kSchemaVersion = 2;

  // The verb that runs: its name stands in messages.
  void begin(const std::string& verb) { verb_ = verb; }
  // Looks at the files that it is to write, before it works. False: it must not begin, which is
  // said.
  bool may_work(const Call& call);
  // Says what is wrong with the command line, if the program was used wrongly; then writes the JSON
  // object that the verb had to say, if any. Call it once, at the end.
  void finish(const std::string& usage_error = std::string());
  // Gives the verbs that are added from now on a flag --json.
  void add_json_flags(CommandLine& line) { line.add_json_flags(json_); }
  bool json() const { return json_; }
  // --json stands on a command line that may be wrong otherwise.
  void expect_json() { json_ = true; }

  // Writes all of the files or none; false: none, which is said as a failure.
  bool write(const std::vector<Output>& outputs);
  // Whether the file is in order; false: it is not, which is said.
  bool check(const std::string& path, FileKind kind, bool beside = false);

  // The user said --force.
  bool insists() const { return outputs_.insists(); }

  // Standard output; standard error where a file goes to standard output.
  void print(const std::string& text) const;
  // At most as wide as the terminal, and as 100 columns.
  void print(const TextTable& table, const std::string& indent = "") const;
  // `text` in lines of at most 80 columns, and no more than the terminal has.
  void print_paragraph(const std::string& first, const std::string& text) const;
  void print_paragraph(const std::string& text) const { print_paragraph("", text); }
  // Standard output too, by finish(). Called once at most.
  void print_json(const nlohmann::json& object);

  // What the verb would have to say if it were ended now, on another thread: `say` owns all that
  // it uses. Or that object, with "complete": false.
  void keep_part(std::function<void()> say);
  void keep_part(nlohmann::json object);
  // Ends the verb, which did not end by itself, with what was kept.
  void give_up();

  // One line on standard error that does not end the program with a failure. Equal ones are said
  // once, and at the end how many there were.
  void warn(const std::string& message) const;
  // The same about one of many: said before the next answer, "FIRST and 12 more: message".
  void warn(const std::string& about, const std::string& message) const;
  // Says the failure in one line on standard error; the program will exit with 1.
  void fail(const Status& status);
  void fail(const std::string& message);
  // Somebody interrupted the verb, which answers with what it has: exit with 1. `what`: what that
  // is.
  void stopped(const std::string& what);
  // Ends the program, although threads still work: says what finish() says.
  [[noreturn]] void end_now();
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
  std::function<void()> part_;
  mutable std::map<std::string, std::size_t> warned_;
  struct About {
    std::string first;
    std::size_t count = 0;
  };
  mutable std::map<std::string, About> warned_about_;
  Outputs outputs_;
  void say(const char* kind, const std::string& message) const;
  void say_warned_about() const;
  bool refused(const Status& status);
  void keep_error(const std::string& code, const std::string& message);
};

// An AgentOptions::log that writes to standard error.
void log_to_standard_error(void* user, int level, const char* message);

}  // namespace idletune::cli
