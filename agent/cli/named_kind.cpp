#include "agent/cli/named_kind.hpp"

#include <cstdint>
#include <optional>

namespace idletune::cli {

Result<NamedKind> named_kind(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const bool named = equals != std::string::npos && equals > 0;
  const std::optional<ParameterKind> kind =
      named ? parameter_kind_from_name(text.substr(equals + 1)) : std::nullopt;
  if (kind) return NamedKind{text.substr(0, equals), *kind};
  return {StatusCode::invalid_argument,
          "--kind '" + text + "': expected NAME=KIND with a kind of " + kind_names()};
}

std::string kind_names() {
  std::string names;
  for (std::uint8_t kind = 0; kind < kParameterKindCount; ++kind) {
    if (kind > 0) names += ", ";
    names += parameter_kind_name(static_cast<ParameterKind>(kind));
  }
  return names;
}

}  // namespace idletune::cli
