#include "agent/host/pictures/markup.hpp"

#include "models/core/utf8.hpp"

namespace idletune::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

bool may_appear(std::uint32_t code) {
  if (is_control(code)) return false;
  if ((code & 0xFFFEu) == 0xFFFEu || (code >= 0xFDD0 && code <= 0xFDEF)) return false;
  const bool turns_direction = code == 0x061C || code == 0x200E || code == 0x200F ||
                               (code >= 0x202A && code <= 0x202E) ||
                               (code >= 0x2066 && code <= 0x2069);
  return !turns_direction;
}

void append_escaped(std::string& out, std::string_view bytes, std::uint32_t code) {
  switch (code) {
    case '&': out += "&amp;"; return;
    case '<': out += "&lt;"; return;
    case '>': out += "&gt;"; return;
    case '"': out += "&quot;"; return;
    case '\'': out += "&#39;"; return;
    case '\n':
    case '\r':
    case '\t': out += ' '; return;
    default: out += may_appear(code) ? bytes : kReplacement;
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.well_formed) {
      append_escaped(out, text.substr(0, character.bytes), character.code);
    } else {
      out += kReplacement;
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); text.remove_prefix(first_character(text).bytes)) ++count;
  return count;
}

std::string shortened(std::string_view text, std::size_t limit) {
  if (character_count(text) <= limit) return std::string(text);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i + 1 < limit; ++i) bytes += first_character(text.substr(bytes)).bytes;
  return std::string(text.substr(0, bytes)).append(kEllipsis);
}

namespace {

std::string started(std::string_view name, Attributes attributes) {
  std::string text = "<";
  text += name;
  for (const auto& [key, value] : attributes)
    text.append(" ").append(key).append("=\"").append(escaped(value)).append("\"");
  return text;
}

}  // namespace

std::string element(std::string_view name, Attributes attributes, std::string_view content) {
  return started(name, attributes).append(">").append(content).append("</").append(name) + ">";
}

std::string element(std::string_view name, Attributes attributes) {
  return started(name, attributes) + "/>";
}

}  // namespace idletune::report
