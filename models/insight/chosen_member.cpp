#include "models/insight/chosen_member.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace idletune {
namespace {

constexpr std::string_view kChoice = "ALGORITHM=";
constexpr std::size_t kMostMembers = 32;  // as many as a space has parameters

bool is_small(char c) { return c >= 'a' && c <= 'z'; }

// How long the member's name before a parameter's is: up to the first bar that no small letter
// follows, else up to the first one. 0: there is none.
std::size_t member_length(std::string_view parameter) {
  const std::string_view name = parameter.substr(0, parameter.find('='));
  std::size_t first = 0;
  for (std::size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] != '_') continue;
    if (!is_small(name[i + 1])) return i;
    if (first == 0) first = i;
  }
  return first;
}

std::optional<std::size_t> number_of(std::string_view digits) {
  std::size_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9' || number > kMostMembers) return std::nullopt;
    number = number * 10 + static_cast<std::size_t>(c - '0');
  }
  return digits.empty() ? std::nullopt : std::optional<std::size_t>(number);
}

}  // namespace

std::optional<ChosenMember> chosen_member(std::string_view configuration) {
  if (configuration.substr(0, kChoice.size()) != kChoice) return std::nullopt;
  const std::size_t end = std::min(configuration.find(' '), configuration.size());
  const auto chosen = number_of(configuration.substr(kChoice.size(), end - kChoice.size()));
  if (!chosen) return std::nullopt;
  ChosenMember result;
  std::vector<std::string_view> members;
  for (std::size_t at = end + 1; at < configuration.size();) {
    const std::size_t next = std::min(configuration.find(' ', at), configuration.size());
    const std::string_view parameter = configuration.substr(at, next - at);
    at = next + 1;
    const std::size_t length = member_length(parameter);
    if (length == 0) return std::nullopt;
    const std::string_view member = parameter.substr(0, length);
    if (members.empty() || members.back() != member) members.push_back(member);
    if (members.size() != *chosen + 1) continue;
    result.name = member;
    if (!result.parameters.empty()) result.parameters += ' ';
    result.parameters += parameter.substr(length + 1);
  }
  if (members.empty()) return std::nullopt;
  if (result.name.empty()) result.name = "member " + std::to_string(*chosen);
  return result;
}

std::string with_chosen_member(const std::string& configuration) {
  const auto member = chosen_member(configuration);
  return member ? member->name + ": " + member->parameters : configuration;
}

}  // namespace idletune
