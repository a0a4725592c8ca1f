#include "agent/host/cli/kernel_file.hpp"

#include "agent/host/cli/places.hpp"
#include "agent/signing/pushed_file.hpp"
#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

Result<std::vector<std::uint8_t>> read_kernel(const std::string& path) {
  if (!has_ending(path, ".xml")) return read_pushed_file(path, KernelPackage::kMaxBytes, nullptr);
  Result<KernelDescription> description = read_kernel_xml(path);
  if (!description.ok()) return description.status();
  return pack(*description);
}

std::string wrong_with_problem(const std::string& text) {
  return parse_problem(text).status().message();
}

Result<NamedKind> named_kind(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const bool named = equals != std::string::npos && equals > 0;
  const std::optional<ParameterKind> kind =
      named ? parameter_kind_from_name(text.substr(equals + 1)) : std::nullopt;
  if (kind) return NamedKind{text.substr(0, equals), *kind};
  return {StatusCode::invalid_argument,
          "'" + text + "': expected NAME=KIND with a kind of " + kind_names()};
}

std::string wrong_with_kind(const std::string& text) { return named_kind(text).status().message(); }

std::string kind_names() {
  std::string names;
  for (std::uint8_t kind = 0; kind < kParameterKindCount; ++kind) {
    if (kind > 0) names += ", ";
    names += parameter_kind_name(static_cast<ParameterKind>(kind));
  }
  return names;
}

}  // namespace idletune::cli
