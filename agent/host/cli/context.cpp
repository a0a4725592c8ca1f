#include "agent/host/cli/context.hpp"

#include <unistd.h>

#include <sstream>

#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::cli {

const char* const kStopped = "stopped; nothing more was written";
const char* const kStoppedEarly = "stopped early: that is what was finished";
const char* const kNotWritten = "standard output could not be written";

bool CliContext::may_work(const Call& call) {
  outputs_.begin(call.words, call.insists);
  for (const std::string& folder : call.folders) {
    if (refused(Outputs::check_folder(folder))) return false;
  }
  for (const Call::File& file : call.files) {
    if (!check(file.path, file.kind, file.beside)) return false;
  }
  return true;
}

bool CliContext::refused(const Status& status) {
  if (status.ok()) return false;
  if (status.code() == StatusCode::invalid_argument) {
    used_wrongly(status.message());
  } else {
    fail(status);
  }
  return true;
}

bool CliContext::check(const std::string& path, FileKind kind, bool beside) {
  if (refused(outputs_.check(path, kind, beside))) return false;
  if (!json_ || !outputs_.take_standard_output()) return true;
  used_wrongly("--json and a file on standard output exclude each other");
  return false;
}

bool CliContext::write(const std::vector<Output>& outputs) {
  return !refused(outputs_.write(outputs));
}

void CliContext::print(const std::string& text) const {
  say_warned_about();
  Progress::clear();
  std::FILE* const file = outputs_.take_standard_output() ? stderr : stdout;
  const std::string shown = json_ ? text : terminal_text(text, /*lines=*/true);
  std::fwrite(shown.data(), 1, shown.size(), file);
  if (shown.empty() || shown.back() != '\n') std::fputc('\n', file);
}

void CliContext::print(const TextTable& table, const std::string& indent) const {
  const std::size_t columns = terminal_columns();
  const std::size_t width = columns == 0 ? TextTable::kWidth : std::min(columns, TextTable::kWidth);
  std::istringstream lines(table.to_string(width - std::min(width, indent.size())));
  std::string text;
  for (std::string line; std::getline(lines, line);)
    text += (line.empty() ? "" : indent) + line + "\n";
  print(text);
}

void CliContext::print_paragraph(const std::string& first, const std::string& text) const {
  const std::size_t columns = terminal_columns();
  print(paragraph(first, text, columns == 0 ? 80 : std::min<std::size_t>(columns, 80)));
}

void CliContext::print_json(const nlohmann::json& object) {
  answer_ = std::make_shared<nlohmann::json>(object);
}

void CliContext::keep_part(std::function<void()> say) {
  const Uninterrupted until_kept;
  part_ = std::move(say);
}

void CliContext::keep_part(nlohmann::json object) {
  object["complete"] = false;
  keep_part([this, object = std::move(object)] { print_json(object); });
}

void CliContext::give_up() {
  if (part_) part_();
  stopped(part_ ? kStoppedEarly : kStopped);
  finish();
  std::fflush(stdout);
}

void CliContext::finish(const std::string& usage_error) {
  if (!usage_error.empty()) used_wrongly(usage_error);
  say_warned_about();
  for (const auto& [message, times] : warned_) {
    if (times > 1) say("warning: ", std::to_string(times) + " times: " + message);
  }
  if (!json_ || (answer_ == nullptr && exit_status_ == 0)) return;
  nlohmann::json object = answer_ != nullptr ? *answer_ : nlohmann::json::object();
  object["schema_version"] = kSchemaVersion;
  if (exit_status_ != 0) {
    object["verb"] = verb_.empty() ? nlohmann::json(nullptr) : nlohmann::json(verb_);
    if (error_code_ == "interrupted") object.emplace("complete", false);
    object["error"] = {{"code", error_code_}, {"message", error_message_}};
  }
  // Bytes that are not UTF-8 (names from foreign files) become U+FFFD instead of an exception.
  print(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return terminal_text(text);
}

}  // namespace

void CliContext::say(const char* kind, const std::string& message) const {
  say_warned_about();
  Progress::clear();
  std::fflush(stdout);
  const std::string who = verb_.empty() ? "idletune" : "idletune " + verb_;
  std::fprintf(stderr, "%s: %s%s\n", who.c_str(), kind, one_line(message).c_str());
}

// The first one counts: what follows is often its consequence.
void CliContext::keep_error(const std::string& code, const std::string& message) {
  if (!error_message_.empty()) return;
  error_code_ = code;
  error_message_ = message;
}

void CliContext::warn(const std::string& message) const {
  if (++warned_[message] == 1) say("warning: ", message);
}

void CliContext::warn(const std::string& about, const std::string& message) const {
  About& warned = warned_about_[message];
  if (++warned.count == 1) warned.first = about;
}

void CliContext::say_warned_about() const {
  for (const auto& [message, about] : std::exchange(warned_about_, {})) {
    const std::string more =
        about.count > 1 ? " and " + report::count_text(about.count - 1) + " more" : "";
    say("warning: ", about.first + more + ": " + message);
  }
}

void CliContext::stopped(const std::string& what) {
  keep_error("interrupted", what);
  say("", what);
  exit_status_ = 1;
}

void CliContext::end_now() {
  const Uninterrupted alone;
  finish();
  std::fflush(stdout);
  ::_exit(exit_status_);
}

void CliContext::fail(const Status& status) {
  // A compiler that was asked to end, too, fails of that.
  const bool follows = status.code() == StatusCode::compile_error ||
                       status.code() == StatusCode::device_error ||
                       status.code() == StatusCode::timeout;
  if (follows && interrupted()) return stopped(kStopped);
  keep_error(status_code_name(status.code()), status.message());
  fail(status.to_string());
}

void CliContext::fail(const std::string& message) {
  keep_error("failed", message);
  say("", message);
  exit_status_ = 1;
}

void CliContext::used_wrongly(const std::string& message) {
  keep_error("used_wrongly", message);
  say("", message + " (try 'idletune " + (verb_.empty() ? "" : verb_ + " ") + "--help')");
  exit_status_ = 2;
}

void log_to_standard_error(void*, int, const char* message) {
  Progress::clear();
  std::fflush(stdout);
  std::fprintf(stderr, "idletune: %s\n", one_line(message).c_str());
}

}  // namespace idletune::cli
