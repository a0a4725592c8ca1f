#include "agent/board_command/call.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "models/core/lists.hpp"
#include "models/core/problem_text.hpp"
#include "models/core/word_list.hpp"
#include "platform/os/error.hpp"

namespace idletune::board {
namespace {

constexpr std::string_view kNumbers = "length seconds device";

// "STATE [WHY]": at least 1, at most 2.
std::size_t counted(std::string_view words, bool least) {
  std::size_t count = words.empty() ? 0 : 1;
  for (const char c : words) count += c == ' ' ? 1 : 0;
  for (const char c : words) count -= least && c == '[' ? 1 : 0;
  return count;
}

Result<std::uint64_t> number_in(const std::string& name, const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  const bool begins = text[0] >= '0' && text[0] <= '9';
  if (begins && *end == '\0' && errno == 0) return std::uint64_t{value};
  return Status(StatusCode::invalid_argument, "--% '%': expected a whole number", name, text);
}

Status check_value(const std::string& name, const std::string& value, Call& call) {
  if (name == "shape") {
    const Result<Problem> shape = parse_problem(value);
    if (shape.ok()) call.shape = *shape;
    return shape.status();
  }
  if (name != "backend" || value == "opencl" || value == "cuda") return {};
  return Status(StatusCode::invalid_argument, "--backend '%': expected opencl or cuda", value);
}

}  // namespace

std::string Call::option(const char* name, const char* otherwise) const {
  const auto found = options.find(name);
  return found != options.end() ? found->second : otherwise;
}

std::uint64_t Call::number(const char* name, std::uint64_t otherwise) const {
  const auto found = numbers.find(name);
  return found != numbers.end() ? found->second : otherwise;
}

Result<Call> call_of(const Verb& verb, const std::vector<std::string>& words) {
  Call call;
  bool only_words = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (only_words || word.size() < 2 || word[0] != '-') {
      push(call.words, word);
    } else if (word == "--") {
      only_words = true;
    } else if (word == "--json") {
      call.json = true;
    } else if (word == "--help" || word == "-h") {
      call.help = true;
    } else {
      const std::size_t equals = std::min(word.find('='), word.size());
      const std::size_t begin = std::min<std::size_t>(2, equals);
      const std::string name = word.substr(begin, equals - begin);
      if (word[1] != '-' || !is_listed(verb.options, name)) {
        return Status(StatusCode::invalid_argument, "%: there is no option %", verb.name,
                      word.substr(0, equals));
      }
      if (equals == word.size() && i + 1 == words.size())
        return Status(StatusCode::invalid_argument, "%: % needs a value", verb.name, word);
      call.options[name] = equals < word.size() ? word.substr(equals + 1) : words[++i];
      if (Status status = check_value(name, call.options[name], call); !status.ok()) return status;
      if (!is_listed(kNumbers, name)) continue;
      const Result<std::uint64_t> number = number_in(name, call.options[name]);
      if (!number.ok()) return number.status();
      call.numbers[name] = *number;
    }
  }
  if (!call.help && is_listed(verb.options, "shape") && call.options.count("shape") == 0)
    return Status(StatusCode::invalid_argument, "%: expected --shape, such as 256,256", verb.name);
  for (const std::string& word : call.words) {
    // A folder '' would be the root of everything.
    if (word.empty())
      return Status(StatusCode::invalid_argument, "%: expected %, got ''", verb.name, verb.words);
  }
  const std::size_t given = call.words.size();
  if (call.help || (given >= counted(verb.words, true) && given <= counted(verb.words, false)))
    return call;
  return Status(StatusCode::invalid_argument, "%: expected %, got % words", verb.name,
                *verb.words != '\0' ? verb.words : "nothing behind it", given);
}

Status write_to_standard_output(Bytes bytes) {
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
  if (written && std::fflush(stdout) == 0) return {};
  return system_error("writing", "standard output", errno);
}

}  // namespace idletune::board
