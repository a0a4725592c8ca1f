#include "models/space/identifier.hpp"

namespace idletune::space {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_name(std::string_view text, std::string_view more) {
  if (text.empty() || text.size() > kMaxNameLength || !is_letter(text[0])) return false;
  for (char c : text) {
    if (!in_name(c) && more.find(c) == std::string_view::npos) return false;
  }
  return true;
}

}  // namespace

bool is_identifier(std::string_view text) { return is_name(text, ""); }
bool is_kernel_name(std::string_view text) { return is_name(text, "-."); }

}  // namespace idletune::space
