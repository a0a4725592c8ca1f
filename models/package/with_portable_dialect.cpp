#include "models/package/portable_dialect.hpp"

namespace idletune::space {

bool is_dialect_name(std::string_view name) {
  if (name.substr(0, 9) == "IDLETUNE_" || name.substr(0, 9) == "idletune_") return true;
  const std::string definition = "\n#define " + std::string(name);
  const std::string_view text = portable_dialect();
  for (std::size_t at = text.find(definition); at != text.npos;
       at = text.find(definition, at + 1)) {
    const char next = text[at + definition.size()];  // definitions never end the text
    if (next == ' ' || next == '(' || next == '\n') return true;
  }
  return false;
}

std::string with_portable_dialect(std::string_view source, std::string_view file_name) {
  std::string text(portable_dialect());
  if (source.substr(0, 6) != "#line ") {
    text += "#line 1 \"";
    text += file_name;
    text += "\"\n";
  }
  text += source;
  return text;
}

}  // namespace idletune::space
