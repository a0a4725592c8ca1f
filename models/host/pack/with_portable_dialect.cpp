#include "models/host/pack/portable_dialect.hpp"

#include "models/space/identifier.hpp"

namespace idletune::package {
namespace {

constexpr std::string_view kDefine = "#define ";

std::string_view name_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && space::in_name(text[end])) ++end;
  return text.substr(at, end - at);
}

bool defines(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(kDefine); at != text.npos; at = text.find(kDefine, at + 1)) {
    if (name_at(text, at + kDefine.size()) == name) return true;
  }
  return false;
}

}  // namespace

bool uses_numbers(std::string_view source) {
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view name = name_at(source, at);
    const bool known = !name.empty() && defines(portable_dialect_numbers(), name);
    if (known && !defines(source, name)) return true;
    at += name.empty() ? 1 : name.size();
  }
  return false;
}

std::string without_own_numbers(std::string_view source) {
  std::string text;
  for (std::size_t at = source.find(kDefine); at != source.npos; at = source.find(kDefine, at)) {
    at += kDefine.size();
    const std::string name(name_at(source, at));
    if (defines(portable_dialect_numbers(), name)) text += "#undef " + name + "\n";
  }
  return text;
}

bool is_dialect_name(std::string_view name) {
  if (name.substr(0, 9) == "IDLETUNE_" || name.substr(0, 9) == "idletune_") return true;
  return defines(portable_dialect(), name) || defines(portable_dialect_numbers(), name);
}

std::string with_portable_dialect(std::string_view source, std::string_view file_name,
                                  bool numbers) {
  std::string text(portable_dialect());
  if (numbers) text += portable_dialect_numbers();
  if (source.substr(0, 6) != "#line ") {
    text += "#line 1 \"";
    text += file_name.empty() ? "kernel.cl" : file_name;
    text += "\"\n";
  }
  text += source;
  return text;
}

}  // namespace idletune::package
