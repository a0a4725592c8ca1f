#include "models/host/insight/chosen_member.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "models/host/pack/member_names.hpp"

namespace idletune {
namespace {

constexpr std::size_t kMostMembers = 32;  // as many as a space has parameters

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
  std::vector<std::string> names;
  std::vector<std::string_view> values;  // with the sign before them
  for (std::size_t at = 0; at < configuration.size();) {
    const std::size_t next = std::min(configuration.find(' ', at), configuration.size());
    const std::string_view parameter = configuration.substr(at, next - at);
    const std::size_t sign = std::min(parameter.find('='), parameter.size());
    names.emplace_back(parameter.substr(0, sign));
    values.push_back(parameter.substr(sign));
    at = next + 1;
  }
  const std::optional<FamilyNames> family = family_names(names);
  if (!family || values[family->choice].empty()) return std::nullopt;
  const auto chosen = number_of(values[family->choice].substr(1));
  if (!chosen) return std::nullopt;
  ChosenMember result;
  result.name = *chosen < family->members.size() ? family->members[*chosen]
                                                 : "member " + std::to_string(*chosen);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == family->choice || family->member[i] != *chosen) continue;
    if (!result.parameters.empty()) result.parameters += ' ';
    result.parameters += family->own_name(names[i], *chosen);
    result.parameters += values[i];
  }
  return result;
}

std::string with_chosen_member(const std::string& configuration) {
  const auto member = chosen_member(configuration);
  return member ? member->name + ": " + member->parameters : configuration;
}

}  // namespace idletune
