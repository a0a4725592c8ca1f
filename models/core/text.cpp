#include <idletune/text.hpp>

#include <cstdio>

namespace idletune {

const char TextPiece::kSigned[1] = {};
const char TextPiece::kUnsigned[1] = {};

void TextPiece::append_to(std::string& text) const {
  if (text_ == kSigned) {
    text += std::to_string(static_cast<std::int64_t>(value_));
  } else if (text_ == kUnsigned) {
    text += std::to_string(value_);
  } else if (value_ == kTerminated) {
    text += text_;
  } else {
    text.append(text_, static_cast<std::size_t>(value_));
  }
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
