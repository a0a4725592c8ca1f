// Texts made of pieces: messages, paths, compiler options. One function instead of a chain of `+`,
// which costs a temporary string and its code for every piece.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace idletune {

// A text or a whole number, as a piece of a longer text. Refers to the text it is made of: for use
// within one expression only.
class TextPiece {
 public:
  TextPiece(const char* text) : text_(text), value_(kTerminated) {}                // NOLINT
  TextPiece(std::string_view text) : text_(text.data()), value_(text.size()) {}    // NOLINT
  TextPiece(const std::string& text) : text_(text.data()), value_(text.size()) {}  // NOLINT
  template <class Number, class = std::enable_if_t<std::is_integral_v<Number>>>
  TextPiece(Number number)  // NOLINT
      : text_(std::is_signed_v<Number> ? kSigned : kUnsigned),
        value_(static_cast<std::uint64_t>(number)) {}
  TextPiece(char) = delete;  // a text of one character or a number?
  TextPiece(bool) = delete;

  void append_to(std::string& text) const;

 private:
  // Marks: text_ is one of these for a number, value_ is this for a text that ends with 0.
  static const char kSigned[1];
  static const char kUnsigned[1];
  static constexpr std::uint64_t kTerminated = UINT64_MAX;

  const char* text_;
  std::uint64_t value_;
};

using TextPieces = std::initializer_list<TextPiece>;

// Numbers in decimal.
void append(std::string& text, TextPieces pieces);
std::string joined(TextPieces pieces);
// Sixteen digits: digests and keys.
std::string hexadecimal(std::uint64_t value);

}  // namespace idletune
