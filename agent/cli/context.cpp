#include "agent/cli/context.hpp"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

namespace idletune::cli {
namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

void CliContext::add_json_flag(Verb verb) {
  verb.flag("--json", json_, "Print one JSON object instead of text");
}

void CliContext::print(const std::string& text) const {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (text.empty() || text.back() != '\n') std::fputc('\n', stdout);
}

void CliContext::print(const TextTable& table) const {
  const std::size_t columns = terminal_columns();
  print(table.to_string(columns == 0 ? TextTable::kWidth : std::min(columns, TextTable::kWidth)));
}

void CliContext::print_paragraph(const std::string& first, const std::string& text) const {
  print(paragraph(first, text));
}

void CliContext::print_json(const nlohmann::json& object) {
  answer_ = std::make_shared<nlohmann::json>(object);
}

void CliContext::finish(const std::string& usage_error) {
  if (!usage_error.empty()) used_wrongly(usage_error);
  if (!json_ || (answer_ == nullptr && exit_status_ == 0)) return;
  nlohmann::json object = answer_ != nullptr ? *answer_ : nlohmann::json::object();
  object["schema_version"] = kSchemaVersion;
  if (exit_status_ != 0) {
    object["verb"] = verb_.empty() ? nlohmann::json(nullptr) : nlohmann::json(verb_);
    object["error"] = {{"code", error_code_}, {"message", error_message_}};
  }
  // Bytes that are not UTF-8 (names from foreign files) become U+FFFD instead of an exception.
  print(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void CliContext::say(const char* kind, const std::string& message) const {
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

void CliContext::warn(const std::string& message) const { say("warning: ", message); }

void CliContext::fail(const Status& status) {
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
  std::fflush(stdout);
  std::fprintf(stderr, "idletune: %s\n", one_line(message).c_str());
}

}  // namespace idletune::cli
