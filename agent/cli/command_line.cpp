#include "agent/cli/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

#include <CLI/CLI.hpp>

#include "agent/cli/text_layout.hpp"

namespace idletune::cli {
namespace {

constexpr std::size_t kHelpWidth = 80;
constexpr std::size_t kWidestName = 26;  // a longer one has a line of its own

// "idletune offload profile", "idletune space" or "idletune".
std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return (parent != nullptr ? full_name(*parent) + " " : "") + app.get_name();
}

// The same without the program's name.
std::string name_of_verb(const CLI::App& app) {
  const std::string name = full_name(app);
  return name.substr(name.find(' ') + 1);
}

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// What stands for an option's value: the name that it was given, or one for its type.
std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};  // a flag
  const std::string type = option.get_type_name().substr(0, option.get_type_name().find(':'));
  if (type == "TEXT" || type.empty()) return "TEXT";
  return type == "UINT" || type == "INT" || type == "FLOAT" ? "N" : type.substr(0, type.find(' '));
}

std::string name_of(const CLI::Option& option) {
  if (option.get_positional()) {
    return upper_case(option.get_name(true)) + (option.get_expected_max() > 1 ? "..." : "");
  }
  std::string name;
  for (const std::string& one : option.get_snames()) name += "-" + one + ", ";
  for (const std::string& one : option.get_lnames()) name += "--" + one;
  if (option.get_lnames().empty()) name.resize(name.size() - 2);
  const std::string value = value_name(option);
  return value.empty() ? name : name + " " + value;
}

std::string description_of(const CLI::Option& option) {
  std::string text = option.get_description();
  std::string fallback = option.get_default_str();
  if (!fallback.empty() && fallback.front() == '[')
    fallback = fallback.substr(1, fallback.size() - 2);
  if (!fallback.empty()) text += " [" + fallback + "]";
  if (!option.get_envname().empty()) text += " (or in " + option.get_envname() + ")";
  return text;
}

// Names on the left, what they mean on the right.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::size_t width = 0;
  for (const auto& [name, meaning] : rows) {
    if (name.size() <= kWidestName) width = std::max(width, name.size());
  }
  std::string text;
  for (const auto& [name, meaning] : rows) {
    std::string first = "  " + name;
    if (name.size() > width) {
      text += first + "\n";
      first.clear();
    }
    first.resize(width + 4, ' ');
    text += paragraph(first, meaning, kHelpWidth);
  }
  return text;
}

std::string help_of_verb(const CLI::App& app) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::string usage = "usage: " + full_name(app);
  std::string options;
  for (const bool positional : {true, false}) {
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_positional() != positional) continue;
      const std::string name = name_of(*option);
      rows.emplace_back(name, description_of(*option));
      if (!option->get_required() && !positional) continue;
      const std::string shown = positional ? name : name.substr(name.find("--"));
      usage += option->get_required() ? " " + shown : " [" + shown + "]";
    }
  }
  std::string text = paragraph(full_name(app) + ": ", app.get_description(), kHelpWidth);
  text += "\n" + paragraph("", usage + " [OPTION...]", kHelpWidth) + "\n" + two_columns(rows);
  if (!app.get_footer().empty()) {
    text += "\n" + paragraph("example: ", "idletune " + app.get_footer(), kHelpWidth);
  }
  return text;
}

// Of a verb that is a collection of verbs.
std::string help_of_verbs(const CLI::App& app) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const CLI::App* verb : app.get_subcommands({})) {
    rows.emplace_back(verb->get_name(), verb->get_description());
  }
  return paragraph(full_name(app) + ": ", app.get_description(), kHelpWidth) +
         "\nusage: " + full_name(app) + " VERB [OPTION...]\n\n" + two_columns(rows) + "\n" +
         paragraph("", full_name(app) + " VERB --help tells its options. Every verb takes --json.",
                   kHelpWidth);
}

std::string help_of_program(const CLI::App& app) {
  std::string text = paragraph("", app.get_description(), kHelpWidth) +
                     "\nusage: " + app.get_name() + " VERB [OPTION...]\n";
  std::vector<std::string> groups;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (std::find(groups.begin(), groups.end(), verb->get_group()) == groups.end())
      groups.push_back(verb->get_group());
  }
  for (const std::string& group : groups) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const CLI::App* verb : app.get_subcommands({})) {
      if (verb->get_group() != group) continue;
      // All groups have their texts in one column.
      std::string name = verb->get_name();
      name.resize(std::max<std::size_t>(name.size(), 10), ' ');
      rows.emplace_back(name, verb->get_description());
    }
    text += "\n" + group + "\n" + two_columns(rows);
  }
  return text + "\n" +
         paragraph("",
                   app.get_name() +
                       " VERB --help tells its options. Every verb takes --json. "
                       "Exit status: 0 done, 1 failed, 2 used wrongly.",
                   kHelpWidth);
}

}  // namespace

Argument Argument::required() const {
  option_->required();
  return *this;
}

Argument Argument::shows_default() const {
  option_->capture_default_str();
  return *this;
}

Argument Argument::shows_default(const std::string& text) const {
  option_->default_str(text);
  return *this;
}

Argument Argument::value_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

Argument Argument::environment(const std::string& variable) const {
  option_->envname(variable);
  return *this;
}

Argument Argument::between_integers(long long low, long long high) const {
  option_->check(CLI::Range(low, high));
  return *this;
}

Argument Argument::between_reals(double low, double high) const {
  option_->check(CLI::Range(low, high));
  return *this;
}

Argument Argument::positive() const {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Argument Argument::not_negative() const {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

Argument Argument::one_of(const std::vector<std::string>& values) const {
  option_->check(CLI::IsMember(values));
  return *this;
}

Argument Argument::checked(const std::function<std::string(const std::string&)>& wrong_with) const {
  option_->check(
      CLI::Validator([wrong_with](std::string& value) { return wrong_with(value); }, ""));
  return *this;
}

Argument Argument::separated_by_commas() const {
  option_->delimiter(',');
  return *this;
}

Argument Argument::one_at_a_time() const {
  option_->allow_extra_args(false);
  return *this;
}

Argument Argument::needs(Argument other) const {
  option_->needs(other.option_);
  return *this;
}

Argument Argument::excludes(Argument other) const {
  option_->excludes(other.option_);
  return *this;
}

bool Argument::given() const { return option_->count() > 0; }

template <class T>
Argument Verb::option(const std::string& name, T& value, const std::string& help) {
  CLI::Option* option = app_->add_option(name, value, help);
  if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
    // The parser takes -1 for the largest number there is.
    option->check(CLI::Validator(
        [](std::string& text) {
          const bool negative = text.find('-') != std::string::npos;
          return negative ? "expected a whole number from 0 on, not " + text : std::string();
        },
        ""));
  }
  return Argument(option);
}

Argument Verb::flag(const std::string& name, bool& value, const std::string& help) {
  return Argument(app_->add_flag(name, value, help));
}

Verb Verb::add_verb(const std::string& name, const std::string& purpose) {
  app_->require_subcommand(1);
  return Verb(app_->add_subcommand(name, purpose), line_);
}

void Verb::takes_anything() { app_->allow_extras(); }

void Verb::example(const std::string& words) { app_->footer(words); }

void Verb::runs(const std::function<void()>& action) {
  app_->callback([action, line = line_, name = name_of_verb(*app_)] {
    if (line->before_) line->before_(name);
    action();
  });
}

CommandLine::CommandLine(const std::string& program, const std::string& purpose,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(purpose, program)) {
  app_->require_subcommand(1);
  app_->set_version_flag("--version", version, "Print the version");
  app_->set_help_flag("--help,-h", "Print this");
  // Verbs inherit it.
  app_->formatter_fn([](const CLI::App* app, const std::string&, CLI::AppFormatMode) {
    if (app->get_parent() == nullptr) return help_of_program(*app);
    return app->get_subcommands({}).empty() ? help_of_verb(*app) : help_of_verbs(*app);
  });
}

CommandLine::~CommandLine() = default;

void CommandLine::begin_group(const std::string& title) { group_ = title; }

Verb CommandLine::add_verb(const std::string& name, const std::string& purpose) {
  CLI::App* verb = app_->add_subcommand(name, purpose);
  if (!group_.empty()) verb->group(group_);
  return Verb(verb, this);
}

void CommandLine::before_verb(const std::function<void(const std::string&)>& action) {
  before_ = action;
}

bool CommandLine::run(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    // Help and version are answers, too.
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      return app_->exit(error) == 0;
    }
    usage_error_ = error.what();
    const CLI::App* named = app_.get();
    while (!named->get_subcommands().empty()) named = named->get_subcommands().front();
    if (named != app_.get() && before_) before_(name_of_verb(*named));
    if (!named->get_subcommands({}).empty() && !app_->remaining(true).empty()) {
      usage_error_ = "there is no verb '" + app_->remaining(true).front() + "'";
    }
    return false;
  }
}

template Argument Verb::option(const std::string&, bool&, const std::string&);
template Argument Verb::option(const std::string&, std::string&, const std::string&);
template Argument Verb::option(const std::string&, double&, const std::string&);
template Argument Verb::option(const std::string&, std::int32_t&, const std::string&);
template Argument Verb::option(const std::string&, std::uint32_t&, const std::string&);
template Argument Verb::option(const std::string&, std::int64_t&, const std::string&);
template Argument Verb::option(const std::string&, std::uint64_t&, const std::string&);
template Argument Verb::option(const std::string&, std::vector<std::string>&, const std::string&);
template Argument Verb::option(const std::string&, std::vector<double>&, const std::string&);

}  // namespace idletune::cli
