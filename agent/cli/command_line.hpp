// What the command line can be asked. A thin layer over CLI11: command_line.cpp alone includes it,
// since its headers would cost every file of a verb seconds of compiling.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace idletune::cli {

// One option, flag or positional argument while it is described. A copy means the same argument;
// valid as long as its CommandLine. Every function that describes returns the argument itself.
class Argument {
 public:
  Argument required() const;
  // Help shows the value that the variable has now as the default, or that text.
  Argument shows_default() const;
  Argument shows_default(const std::string& text) const;
  // What stands for a value in help, instead of its type.
  Argument value_name(const std::string& name) const;
  // Where the command line does not say it: the value of that environment variable.
  Argument environment(const std::string& variable) const;

  // Both limits are allowed values.
  template <class T>
  Argument between(T low, T high) const {
    if constexpr (std::is_integral_v<T>) {
      return between_integers(static_cast<long long>(low), static_cast<long long>(high));
    } else {
      return between_reals(low, high);
    }
  }
  Argument positive() const;
  Argument not_negative() const;
  Argument one_of(const std::vector<std::string>& values) const;
  // `wrong_with` says what is wrong with a value; nothing if it may stand.
  Argument checked(const std::function<std::string(const std::string&)>& wrong_with) const;

  // Of lists: "a,b" is two values; and an occurrence takes one value, not all that follow.
  Argument separated_by_commas() const;
  Argument one_at_a_time() const;

  // May only, or must not, stand beside the other one.
  Argument needs(Argument other) const;
  Argument excludes(Argument other) const;

  // Whether it stood on the command line; known when the verb runs.
  bool given() const;

 private:
  friend class Verb;
  explicit Argument(CLI::Option* option) : option_(option) {}
  Argument between_integers(long long low, long long high) const;
  Argument between_reals(double low, double high) const;

  CLI::Option* option_;
};

class CommandLine;

// A verb while it is described; valid as long as its CommandLine. What is passed by reference is
// written when the command line is read and must live as long.
class Verb {
 public:
  // "--name" or "-n,--name" is an option, "name" a positional argument. T is a type of the list at
  // the end of command_line.cpp. Types without a sign take no negative numbers.
  template <class T>
  Argument option(const std::string& name, T& value, const std::string& help);
  Argument flag(const std::string& name, bool& value, const std::string& help);

  // A verb of this verb: "idletune offload profile". This one then runs nothing by itself, and one
  // of its verbs has to be named.
  Verb add_verb(const std::string& name, const std::string& purpose);
  // Accepts any other words, which nothing looks at.
  void takes_anything();
  // A call as a user would write it, without the program's name; stands at the end of the help.
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
  // Called with a verb's name before it runs, and before what is wrong with its words is told.
  void before_verb(const std::function<void(const std::string& name)>& action);
  // Reads the words after the program's name and runs the verb that they name, or answers what
  // --help and --version ask. False if they are wrong; usage_error() says why. Throws what the verb
  // throws.
  bool run(int argc, const char* const* argv);
  const std::string& usage_error() const { return usage_error_; }

 private:
  friend class Verb;
  std::unique_ptr<CLI::App> app_;
  std::string group_;
  std::function<void(const std::string&)> before_;
  std::string usage_error_;
};

}  // namespace idletune::cli
