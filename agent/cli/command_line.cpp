#include "agent/cli/command_line.hpp"

#include <cstdint>
#include <cstdio>

#include <CLI/CLI.hpp>

namespace idletune::cli {

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
  return Argument(app_->add_option(name, value, help));
}

Argument Verb::flag(const std::string& name, bool& value, const std::string& help) {
  return Argument(app_->add_flag(name, value, help));
}

void Verb::takes_anything() { app_->allow_extras(); }

void Verb::runs(const std::function<void()>& action) { app_->callback(action); }

CommandLine::CommandLine(const std::string& program, const std::string& purpose,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(purpose, program)) {
  app_->require_subcommand(1);
  app_->set_version_flag("--version", version);
}

CommandLine::~CommandLine() = default;

Verb CommandLine::add_verb(const std::string& name, const std::string& purpose) {
  return Verb(app_->add_subcommand(name, purpose));
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
    const std::vector<std::string> unknown =
        app_->get_subcommands().empty() ? app_->remaining() : std::vector<std::string>();
    const std::string program = app_->get_name();
    const std::string wrong =
        unknown.empty() ? error.what() : "there is no verb '" + unknown.front() + "'";
    std::fprintf(stderr, "%s: %s (try '%s --help')\n", program.c_str(), wrong.c_str(),
                 program.c_str());
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
