#include "agent/journal/names.hpp"

#include <idletune/text.hpp>

#include <algorithm>

namespace idletune::journal {

std::string name_line(const State& state, NameKind kind, std::uint64_t digest, std::size_t line) {
  const std::optional<Name> name = state.name(kind, digest);
  std::string_view rest = name ? std::string_view(name->text) : std::string_view();
  for (; line > 0 && !rest.empty(); --line)
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  return std::string(rest.substr(0, rest.find('\n')));
}

std::string called(const State& state, NameKind kind, std::uint64_t digest) {
  const std::string name = name_line(state, kind, digest, kind == NameKind::device ? 2 : 0);
  return name.empty() ? hexadecimal(digest) : name;
}

std::string named_values(std::string_view names, Span<const std::int64_t> values) {
  const auto spaces = static_cast<std::size_t>(std::count(names.begin(), names.end(), ' '));
  const bool fits = !names.empty() && spaces + 1 == values.size();
  std::string text;
  for (const std::int64_t value : values) {
    if (!text.empty()) text += fits ? ' ' : ',';
    if (fits) {
      const std::string_view name = names.substr(0, names.find(' '));
      append(text, "%=", name);
      names.remove_prefix(std::min(name.size() + 1, names.size()));
    }
    append(text, "%", value);
  }
  return text;
}

std::string named_values(const State& state, std::uint64_t kernel, KernelLine line,
                         Span<const std::int64_t> values) {
  return named_values(name_line(state, NameKind::kernel, kernel, static_cast<std::size_t>(line)),
                      values);
}

}  // namespace idletune::journal
