#include "models/core/utf8.hpp"

namespace idletune {
namespace {

std::size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

}  // namespace

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = sequence_length(byte(0));
  if (length == 0 || length > text.size()) return {byte(0), 1, false};
  if (length == 1) return {byte(0), 1, true};
  std::uint32_t code = byte(0) & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return {byte(0), 1, false};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  if (code < kSmallest[length] || code > 0x10FFFF || surrogate) return {byte(0), 1, false};
  return {code, length, true};
}

bool is_shown(const Character& character) {
  constexpr std::uint32_t kHidden[][2] = {{0xAD, 0xAD},     {0x200B, 0x200F}, {0x2028, 0x202E},
                                          {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xE0000, 0xE0FFF}};
  bool shown = character.well_formed && !is_control(character.code);
  for (const auto& range : kHidden)
    shown = shown && (character.code < range[0] || character.code > range[1]);
  return shown;
}

}  // namespace idletune
