// What the command line can be asked. A thin layer over CLI11: command_line.cpp alone includes it,
// since its headers would cost every file of a verb seconds of compiling.
#pragma once

#include "agent/host/cli/outputs.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace idletune::cli {

class CommandLine;

// What of a verb's words concerns files.
struct Call {
  struct File {
    std::string path;
    FileKind kind;
    bool beside;
  };
  std::vector<File> files;           // that it will write
  std::vector<std::string> folders;  // into which it will write
  std::vector<std::string> words;    // which may name what it reads
  bool insists = false;              // --force
};

// One option, flag or positional argument while it is described. A copy means the same argument;
// valid as long as its CommandLine. Every function that describes returns the argument itself.
class Argument {
 public:
  // Help shows that text as the default; or the variable's value, as it does by itself of what is
  // neither empty nor 0.
  Argument shows_default(const std::string& text) const;
  Argument shows_default() const;
  // Where the command line does not say it: the value of that environment variable.
  Argument environment(const std::string& variable) const;

  // Both limits are allowed values; help says them.
  template <class T>
  Argument between(T low, T high) const {
    return between_reals(static_cast<double>(low), static_cast<double>(high));
  }
  Argument at_least(long long low) const;
  Argument one_of(const std::vector<std::string>& values) const;
  // `wrong_with` says what is wrong with a value; nothing if it may stand.
  Argument checked(const std::function<std::string(const std::string&)>& wrong_with) const;

  // Of lists: "a,b" is two values; and an occurrence takes one value, not all that follow.
  Argument separated_by_commas() const;
  Argument one_at_a_time() const;

  // May only, or must not, stand beside the other one.
  Argument needs(Argument other) const;
  Argument excludes(Argument other) const;
  // Whoever gives it expects that it does something: `acts` says whether it does in this call.
  // `where`: "with --method gmres".
  Argument acts(const std::string& where, const std::function<bool()>& acts) const;
  // Names a file that the verb writes. `beside`: with something else beside it.
  Argument writes(FileKind kind, bool beside = false) const;
  // Names a folder into which the verb writes; `replaces`: also over files that are there.
  Argument writes_below(bool replaces = false) const;

  // Whether it stood on the command line; known when the verb runs.
  bool given() const;

 private:
  friend class Verb;
  Argument(CLI::Option* option, CLI::App* app, CommandLine* line)
      : option_(option), app_(app), line_(line) {}
  Argument required() const;
  Argument between_reals(double low, double high) const;

  CLI::Option* option_;
  CLI::App* app_;
  CommandLine* line_;
};

// A verb while it is described; valid as long as its CommandLine. What is passed by reference is
// written when the command line is read and must live as long.
class Verb {
 public:
  // "--name" or "-n,--name" is an option, "name" a positional argument. "--name FILE": that word
  // stands for a value in help, instead of its type or what it can be. "--name N[ms]": units may
  // stand behind the number, of the kind of this one ("ms", "s", "MiB"), which a bare number has. T
  // is a type of the list at the end of command_line.cpp. Types without a sign take no negative
  // numbers.
  template <class T>
  Argument option(const std::string& words, T& value, const std::string& help);
  // One that must be given.
  template <class T>
  Argument required(const std::string& words, T& value, const std::string& help) {
    return option(words, value, help).required();
  }
  Argument flag(const std::string& name, bool& value, const std::string& help);

  // A verb of this verb: "idletune offload profile". This one then runs nothing by itself, and one
  // of its verbs has to be named.
  Verb add_verb(const std::string& name, const std::string& purpose);
  // Accepts any other words, which nothing looks at.
  void takes_anything();
  // A call as a user would write it, without the program's name; they stand at the end of the help.
  void example(const std::string& words);
  // What the verb does, once all its arguments are known.
  void runs(const std::function<void()>& action);

 private:
  friend class CommandLine;
  Verb(CLI::App* app, CommandLine* line) : app_(app), line_(line) {}

  CLI::App* app_;
  CommandLine* line_;
};

class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& purpose, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // The verbs that are added from now on stand together in the help, below that title.
  void begin_group(const std::string& title);
  // `purpose` begins like a sentence with the verb as its subject: "makes a kernel package".
  Verb add_verb(const std::string& name, const std::string& purpose);
  // From now on verbs have a flag --json.
  void add_json_flags(bool& wanted) { json_ = &wanted; }
  // Called with a verb's name before it runs, and before what is wrong with its words is told.
  void before_verb(const std::function<void(const std::string& name)>& action);
  // Called before a verb works, with what it will write; false: it must not.
  void before_work(const std::function<bool(const Call&)>& action) { may_work_ = action; }
  // Reads the words after the program's name and runs the verb that they name, or answers what
  // --help and --version ask. False if they are wrong; usage_error() says why. Throws what the verb
  // throws.
  bool run(int argc, const char* const* argv);
  const std::string& usage_error() const { return usage_error_; }

 private:
  friend class Argument;
  friend class Verb;
  struct Rule {
    const CLI::App* app;
    const CLI::Option* option;
    std::string where;
    std::function<bool()> acts;
  };
  struct Written {
    const CLI::App* app;
    const CLI::Option* option;
    FileKind kind;
    bool beside;
    bool folder;
    bool replaces;
  };
  void work(const CLI::App& app, const std::function<void()>& action) const;

  std::unique_ptr<CLI::App> app_;
  std::string group_;
  std::function<void(const std::string&)> before_;
  std::function<bool(const Call&)> may_work_;
  std::vector<Rule> rules_;
  std::vector<Written> written_;
  bool* json_ = nullptr;
  bool insists_ = false;
  std::string usage_error_;
};

}  // namespace idletune::cli
