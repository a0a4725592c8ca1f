#include <idletune/text.hpp>

#include <cstdio>
#include <cstring>

namespace idletune {

const char TextPiece::kSigned[1] = {};
const char TextPiece::kUnsigned[1] = {};

void TextPiece::append_to(std::string& text) const {
  if (text_ != kSigned && text_ != kUnsigned) {
    text.append(text_,
                value_ == kTerminated ? std::strlen(text_) : static_cast<std::size_t>(value_));
    return;
  }
  // std::to_string would bring a table of digits for each of its types.
  const bool negative = text_ == kSigned && static_cast<std::int64_t>(value_) < 0;
  std::uint64_t left = negative ? 0 - value_ : value_;
  char digits[20];
  char* first = digits + sizeof digits;
  do {
    *--first = static_cast<char>('0' + left % 10);
    left /= 10;
  } while (left != 0);
  if (negative) text += '-';
  text.append(first, static_cast<std::size_t>(digits + sizeof digits - first));
}

void append(std::string& text, TextPieces pieces) {
  for (const TextPiece& piece : pieces) piece.append_to(text);
}

std::string joined(TextPieces pieces) {
  std::string text;
  append(text, pieces);
  return text;
}

std::string hexadecimal(std::uint64_t value) {
  char buffer[20];
  std::snprintf(buffer, sizeof buffer, "%016llx", static_cast<unsigned long long>(value));
  return buffer;
}

}  // namespace idletune
