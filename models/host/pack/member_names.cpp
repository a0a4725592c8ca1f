#include "models/host/pack/member_names.hpp"

#include <algorithm>

namespace idletune {
namespace {

bool is_small(char c) { return c >= 'a' && c <= 'z'; }

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

// How long the member's name in front is. 0: there is none.
std::size_t member_length(const std::string& name) {
  std::size_t first = 0;
  for (std::size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] != '_') continue;
    if (!is_small(name[i + 1])) return i;
    if (first == 0) first = i;
  }
  return first;
}

// Whether it is told by its letters alone.
bool is_plain(const std::string& name) {
  const std::size_t length = member_length(name);
  return length > 0 && !is_small(name[length + 1]) &&
         std::none_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(length), is_capital);
}

}  // namespace

std::string family_parameter(const std::string& member, const std::string& parameter) {
  return member + '_' + parameter;
}

std::optional<FamilyNames> family_names(const std::vector<std::string>& parameters) {
  const auto named = std::find(parameters.begin(), parameters.end(), kMemberParameter);
  const bool by_letters = named == parameters.end();
  if (by_letters && (parameters.empty() || is_plain(parameters.front()))) return std::nullopt;
  FamilyNames family;
  family.choice = by_letters ? 0 : static_cast<std::size_t>(named - parameters.begin());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    family.member.push_back(family.members.size());
    if (i == family.choice) continue;
    const std::size_t length = member_length(parameters[i]);
    if (length == 0 || (by_letters && !is_plain(parameters[i]))) return std::nullopt;
    const std::string member = parameters[i].substr(0, length);
    if (family.members.empty() || family.members.back() != member) family.members.push_back(member);
    family.member.back() = family.members.size() - 1;
  }
  family.member[family.choice] = family.members.size();
  if (family.members.size() < (by_letters ? 2 : 1)) return std::nullopt;
  return family;
}

}  // namespace idletune
