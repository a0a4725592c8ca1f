#include "agent/host/pictures/markup.hpp"

#include "models/core/utf8.hpp"

namespace idletune::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

bool turns_direction(std::uint32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool may_appear(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return false;
  if ((code & 0xFFFEu) == 0xFFFEu || (code >= 0xFDD0 && code <= 0xFDEF)) return false;
  return !turns_direction(code);
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

void Markup::start(std::string_view name, Attributes attributes) {
  text_ += '<';
  text_ += name;
  for (const auto& [key, value] : attributes) {
    text_ += ' ';
    text_ += key;
    text_ += "=\"";
    text_ += escaped(value);
    text_ += '"';
  }
}

void Markup::open(std::string_view name, Attributes attributes) {
  start(name, attributes);
  text_ += '>';
  open_.emplace_back(name);
}

void Markup::close(int elements) {
  for (; elements > 0 && !open_.empty(); --elements) {
    text_ += "</" + open_.back() + ">";
    open_.pop_back();
  }
}

void Markup::text(std::string_view text) { text_ += escaped(text); }

void Markup::element(std::string_view name, Attributes attributes, std::string_view text) {
  start(name, attributes);
  text_ += '>';
  text_ += escaped(text);
  text_ += "</";
  text_ += name;
  text_ += '>';
}

void Markup::empty(std::string_view name, Attributes attributes) {
  start(name, attributes);
  text_ += "/>";
}

std::string Markup::take() {
  while (!open_.empty()) close();
  return std::move(text_);
}

}  // namespace idletune::report
