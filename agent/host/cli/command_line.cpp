#include "agent/host/cli/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <sstream>

#include <CLI/CLI.hpp>

#include "agent/host/cli/text_layout.hpp"
#include "models/core/number_text.hpp"

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
  std::string type = option.get_type_name().substr(0, option.get_type_name().find(':'));
  if (type == "TEXT" || type.empty()) return "TEXT";
  return type == "UINT" || type == "INT" || type == "FLOAT" ? "N" : type.substr(0, type.find(' '));
}

void name_if_unnamed(CLI::Option& option, const char* name) {
  if (option.get_type_name() == "TEXT") option.type_name(name);
}

// "ms" of an option that takes "N[ms]".
std::string unit_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.rfind("N[", 0) != 0) return {};
  return type.substr(2, type.find(']') - 2);
}

struct Unit {
  const char* name;
  double size;
};
constexpr Unit kTimes[] = {{"ns", 1e-9}, {"us", 1e-6}, {"\xC2\xB5s", 1e-6}, {"ms", 1e-3},
                           {"s", 1},     {"min", 60},  {"h", 3600}};
constexpr Unit kSizes[] = {{"B", 1},        {"kB", 1e3},        {"MB", 1e6},          {"GB", 1e9},
                           {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};

double size_of(const std::string& unit) {
  for (const auto& known : kTimes)
    if (unit == known.name) return known.size;
  for (const auto& known : kSizes)
    if (unit == known.name) return known.size;
  return 0;
}

bool is_time(const std::string& unit) {
  return std::any_of(std::begin(kTimes), std::end(kTimes),
                     [&](const Unit& known) { return unit == known.name; });
}

// What a number's text is worth in the option's unit; NaN if it is none.
double number_in(const std::string& text, const std::string& unit) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || std::isspace(static_cast<unsigned char>(text[0])) != 0) return none;
  const std::string behind(end + std::strspn(end, " "));
  if (behind.empty()) return *end == '\0' ? number : none;
  const double size = size_of(behind);
  if (unit.empty() || size == 0 || size_of(unit) == 0 || is_time(behind) != is_time(unit))
    return none;
  return number * size / size_of(unit);
}

std::string expected_number(const CLI::Option& option, const char* number,
                            const std::string& text) {
  const std::string unit = unit_of(option);
  return std::string("expected ") + number + (unit.empty() ? "" : ", such as 10" + unit) +
         ", not " + text;
}

// A real number as the parser reads it again; what is wrong with it otherwise.
std::string read_real(const CLI::Option& option, std::string& text) {
  const double number = number_in(text, unit_of(option));
  if (!std::isfinite(number)) return expected_number(option, "a finite number", text);
  text = number_text(number, 17);
  return {};
}

// The same of a whole one: decimal, or hexadecimal behind 0x.
std::string read_whole(const CLI::Option& option, bool has_sign, std::string& text) {
  const std::string wrong =
      expected_number(option, has_sign ? "a whole number" : "a whole number from 0 on", text);
  const bool negative = has_sign && text[0] == '-';
  const std::string digits = text.substr(negative ? 1 : 0);
  const std::string unit = unit_of(option);
  if (!unit.empty()) {
    const double number = number_in(text, unit);
    if (!(number >= 0 && number < 1e18) || number != std::floor(number)) return wrong;
    text = std::to_string(static_cast<std::uint64_t>(number));
    return {};
  }
  const bool hexadecimal = digits.rfind("0x", 0) == 0;
  const char* const allowed = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
  const std::string bare = digits.substr(hexadecimal ? 2 : 0);
  if (bare.empty() || bare.find_first_not_of(allowed) != std::string::npos) return wrong;
  // The parser takes a 0 in front for octal numbers.
  const std::string plain = bare.substr(std::min(bare.find_first_not_of('0'), bare.size() - 1));
  text = (negative ? "-" : "") + std::string(hexadecimal ? "0x" : "") + plain;
  // The parser would take the largest one instead.
  errno = 0;
  has_sign ? (void)std::strtoll(text.c_str(), nullptr, 0)
           : (void)std::strtoull(text.c_str(), nullptr, 0);
  return errno == ERANGE ? "expected a number of at most 64 bits, not " + text : std::string();
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
  const std::string unit = unit_of(option);
  if (!fallback.empty()) text += " [" + fallback + (unit.empty() ? "" : " " + unit) + "]";
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
  std::istringstream examples(app.get_footer());
  for (std::string example; std::getline(examples, example);) {
    text += "\n" + paragraph("example: ", "idletune " + example, kHelpWidth);
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
    if (!contains(groups, verb->get_group())) groups.push_back(verb->get_group());
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
                       " VERB --help tells its options. Every verb takes --json. Exit status: 0 "
                       "done, 1 failed, 2 used wrongly.",
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

Argument Argument::environment(const std::string& variable) const {
  option_->envname(variable);
  return *this;
}

Argument Argument::at_least(long long low) const {
  return between_reals(static_cast<double>(low), std::numeric_limits<double>::infinity());
}

Argument Argument::between_reals(double low, double high) const {
  const std::string unit = unit_of(*option_);
  const std::string range = std::isfinite(high)
                                ? number_text(low, 12) + " to " + number_text(high, 12)
                                : "from " + number_text(low, 12) + " on";
  const std::string units = unit.empty() ? "" : " " + unit;
  option_->description(option_->get_description() + " (" + range + ")");
  option_->check(CLI::Validator(
      [low, high, wanted = "expected " + range + units](std::string& text) {
        const double number = std::strtod(text.c_str(), nullptr);
        return number >= low && number <= high ? std::string() : wanted + ", not " + text;
      },
      ""));
  return *this;
}

Argument Argument::one_of(const std::vector<std::string>& values) const {
  name_if_unnamed(*option_, option_->get_delimiter() == ',' ? "NAME,..." : "NAME");
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

Argument Argument::acts(const std::string& where, const std::function<bool()>& acts) const {
  line_->rules_.push_back({app_, option_, where, acts});
  return *this;
}

Argument Argument::writes(FileKind kind, bool beside) const {
  name_if_unnamed(*option_, "FILE");
  line_->written_.push_back({app_, option_, kind, beside, /*folder=*/false, true});
  return *this;
}

Argument Argument::writes_below(bool replaces) const {
  name_if_unnamed(*option_, "FOLDER");
  line_->written_.push_back({app_, option_, FileKind::history, false, /*folder=*/true, replaces});
  return *this;
}

bool Argument::given() const { return option_->count() > 0; }

namespace {

template <class T>
struct Element {
  using type = T;
  static bool is_something(const T& value) { return value != T(); }
};
template <class T>
struct Element<std::optional<T>> {
  using type = T;
  static bool is_something(const std::optional<T>& value) { return value.has_value(); }
};
template <class T>
struct Element<std::vector<T>> {
  using type = T;
  static bool is_something(const std::vector<T>& list) { return !list.empty(); }
};

// What is wrong with words that no verb took; empty: there are none.
std::string error_in(const std::vector<std::string>& left, bool wants_verb) {
  if (left.empty()) return {};
  const auto is_option = [](const std::string& word) { return word.rfind('-', 0) == 0; };
  const auto option = std::find_if(left.begin(), left.end(), is_option);
  if (wants_verb)
    return (option == left.begin() ? "expected a verb before '" : "there is no verb '") +
           left.front() + "'";
  return option == left.end() ? "did not expect '" + left.front() + "'"
                              : "there is no option '" + *option + "'";
}

}  // namespace

template <class T>
Argument Verb::option(const std::string& words, T& value, const std::string& help) {
  const std::size_t blank = words.find(' ');
  CLI::Option* option = app_->add_option(words.substr(0, blank), value, help);
  if (blank != std::string::npos) option->type_name(words.substr(blank + 1));
  if (Element<T>::is_something(value)) option->capture_default_str();
  using Number = typename Element<T>::type;
  if constexpr (std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>) {
    option->transform(CLI::Validator(
        [option](std::string& text) {
          if constexpr (std::is_floating_point_v<Number>) return read_real(*option, text);
          std::string wrong = read_whole(*option, std::is_signed_v<Number>, text);
          Number number;
          if (!wrong.empty() || CLI::detail::lexical_cast(text, number)) return wrong;
          return "expected at most " + std::to_string(std::numeric_limits<Number>::max()) +
                 ", not " + text;
        },
        ""));
  }
  return Argument(option, app_, line_);
}

Argument Verb::flag(const std::string& name, bool& value, const std::string& help) {
  return Argument(app_->add_flag(name, value, help), app_, line_);
}

Verb Verb::add_verb(const std::string& name, const std::string& purpose) {
  app_->require_subcommand(1);
  return Verb(app_->add_subcommand(name, purpose), line_);
}

void Verb::takes_anything() { app_->allow_extras(); }

void Verb::example(const std::string& words) {
  const std::string before = app_->get_footer();
  app_->footer(before.empty() ? words : before + "\n" + words);
}

void Verb::runs(const std::function<void()>& action) {
  if (line_->json_ != nullptr)
    flag("--json", *line_->json_, "Print one JSON object instead of text");
  const auto& written = line_->written_;
  if (std::any_of(written.begin(), written.end(),
                  [this](const auto& file) { return file.app == app_ && file.replaces; })) {
    app_->add_flag("--force", line_->insists_,
                   "Write also over what is read here, and over files of other kinds");
  }
  app_->callback([action, line = line_, app = app_] { line->work(*app, action); });
}

void CommandLine::work(const CLI::App& app, const std::function<void()>& action) const {
  if (before_) before_(name_of_verb(app));
  for (const Rule& rule : rules_) {
    if (rule.app != &app || rule.option->count() == 0 || rule.acts()) continue;
    throw CLI::ValidationError(rule.option->get_name(),
                               "it does something " + rule.where + ", and nothing in this call");
  }
  Call call;
  call.insists = insists_;
  std::vector<const CLI::Option*> outputs;
  for (const Written& file : written_) {
    if (file.app != &app) continue;
    outputs.push_back(file.option);
    if (file.option->count() == 0) continue;
    if (file.folder) {
      call.folders.push_back(file.option->as<std::string>());
      continue;
    }
    call.files.push_back({file.option->as<std::string>(), file.kind, file.beside});
  }
  for (const CLI::Option* option : app.get_options()) {
    if (contains(outputs, option)) continue;
    for (const std::string& word : option->results()) call.words.push_back(word);
  }
  if (may_work_ && !may_work_(call)) return;
  action();
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
    const CLI::App* named = app_.get();
    while (!named->get_subcommands().empty()) named = named->get_subcommands().front();
    const bool wants_verb = !named->get_subcommands({}).empty();
    const std::string wrong = error_in(app_->remaining(true), wants_verb);
    // Help and version are answers, too.
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success) &&
        (!wants_verb || wrong.empty())) {
      return app_->exit(error) == 0;
    }
    usage_error_ = !wrong.empty() ? wrong : wants_verb ? "expected a verb" : error.what();
    if (named != app_.get() && before_) before_(name_of_verb(*named));
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
template Argument Verb::option(const std::string&, std::optional<double>&, const std::string&);
template Argument Verb::option(const std::string&, std::optional<std::uint64_t>&,
                               const std::string&);
template Argument Verb::option(const std::string&, std::vector<std::string>&, const std::string&);
template Argument Verb::option(const std::string&, std::vector<double>&, const std::string&);
template Argument Verb::option(const std::string&, std::vector<std::uint64_t>&, const std::string&);

}  // namespace idletune::cli
