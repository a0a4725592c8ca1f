// Which texts are names.
#pragma once

#include <cstddef>
#include <string_view>

namespace idletune::space {

inline constexpr std::size_t kMaxNameLength = 128;
inline constexpr std::size_t kMaxConstraints = 256;  // static and over dimensions, each
inline constexpr std::size_t kMaxCategories = 64;    // of a feature

// Whether such a text may hold it, though not as the first character.
constexpr bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
// A C identifier: letters, digits, '_'; no digit first. Parameters, dimensions, kernel functions.
bool is_identifier(std::string_view text);
// A kernel's name: an identifier that may also contain '-' and '.' after the first character.
bool is_kernel_name(std::string_view text);

}  // namespace idletune::space
