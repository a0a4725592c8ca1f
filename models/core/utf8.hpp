// Characters of texts that anybody may have written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace idletune {

// The character at the start of `text` (not empty); a byte that is no UTF-8 is one by itself.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool well_formed = false;
};
Character first_character(std::string_view text);

// Those that move a cursor or end a line.
constexpr bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F);
}

// False for controls, for what turns the direction of text, and for what takes no room: what nobody
// who reads a terminal or a message is to get from strangers.
bool is_shown(const Character& character);

}  // namespace idletune
