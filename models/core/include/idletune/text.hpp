// Texts made of pieces: messages, paths, compiler options. One function instead of a chain of `+`,
// which costs a temporary string and its code for every piece.
//
// In a form each % stands for the next piece, a text or a whole number (written in decimal), and
// without a piece left for itself.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace idletune {

// The kinds of up to nine pieces, three bits each; the lowest four bits are free for the caller.
// Pieces are handed over by "..." beside this, which takes the least code at the call.
enum class PieceKinds : std::uint32_t {};

namespace pieces {

enum Kind : std::uint32_t { none, terminated, string, view, signed_number, unsigned_number };

inline const char* word(const char* text) { return text; }
inline const std::string* word(const std::string& text) { return &text; }
inline const std::string_view* word(const std::string_view& text) { return &text; }
template <class Number, class = std::enable_if_t<std::is_integral_v<Number>>>
std::conditional_t<std::is_signed_v<Number>, long long, unsigned long long> word(Number number) {
  return number;
}
void word(char) = delete;  // a text of one character or a number?
void word(bool) = delete;

constexpr Kind kind(const char*) { return terminated; }
constexpr Kind kind(const std::string*) { return string; }
constexpr Kind kind(const std::string_view*) { return view; }
constexpr Kind kind(long long) { return signed_number; }
constexpr Kind kind(unsigned long long) { return unsigned_number; }

template <class... Pieces>
constexpr PieceKinds kinds(std::uint32_t low_bits = 0) {
  static_assert(sizeof...(Pieces) <= 9);
  unsigned shift = 1;
  ((low_bits |= kind(decltype(word(std::declval<const Pieces&>())){}) << (shift += 3)), ...);
  return static_cast<PieceKinds>(low_bits);
}

void append(std::string& text, PieceKinds kinds, const char* form, ...);
std::string joined(PieceKinds kinds, const char* form, ...);
// For functions that take pieces in this way themselves.
std::string joined_list(PieceKinds kinds, const char* form, std::va_list words);

}  // namespace pieces

template <class... Pieces>
[[gnu::always_inline]] inline void append(std::string& text, const char* form,
                                          const Pieces&... given) {
  pieces::append(text, pieces::kinds<Pieces...>(), form, pieces::word(given)...);
}

template <class... Pieces>
[[gnu::always_inline]] inline std::string joined(const char* form, const Pieces&... given) {
  return pieces::joined(pieces::kinds<Pieces...>(), form, pieces::word(given)...);
}

// Sixteen digits: digests and keys.
std::string hexadecimal(std::uint64_t value);

}  // namespace idletune
