#include <idletune/text.hpp>

#include <cstdio>

namespace idletune {

namespace pieces {
namespace {

// std::to_string would bring a table of digits for each of its types.
void append_number(std::string& text, std::uint64_t value, bool negative) {
  char digits[20];
  char* first = digits + sizeof digits;
  if (negative) {
    text += '-';
    value = 0 - value;
  }
  do {
    *--first = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  text.append(first, static_cast<std::size_t>(digits + sizeof digits - first));
}

void append_list(std::string& text, PieceKinds kinds, const char* form, std::va_list words) {
  std::uint32_t left = static_cast<std::uint32_t>(kinds) >> 4;
  for (; *form != 0; ++form) {
    const std::uint32_t kind = *form == '%' ? left & 7 : none;
    switch (kind) {
      case none: text += *form; continue;
      case terminated: text += va_arg(words, const char*); break;
      case string: text += *va_arg(words, const std::string*); break;
      case view: text += *va_arg(words, const std::string_view*); break;
      default: {
        const long long number = va_arg(words, long long);
        append_number(text, static_cast<std::uint64_t>(number),
                      kind == signed_number && number < 0);
      }
    }
    left >>= 3;
  }
}

}  // namespace

void append(std::string& text, PieceKinds kinds, const char* form, ...) {
  std::va_list words;
  va_start(words, form);
  append_list(text, kinds, form, words);
  va_end(words);
}

std::string joined(PieceKinds kinds, const char* form, ...) {
  std::va_list words;
  va_start(words, form);
  std::string text = joined_list(kinds, form, words);
  va_end(words);
  return text;
}

std::string joined_list(PieceKinds kinds, const char* form, std::va_list words) {
  std::string text;
  append_list(text, kinds, form, words);
  return text;
}

}  // namespace pieces

std::string hexadecimal(std::uint64_t value) {
  char buffer[20];
  std::snprintf(buffer, sizeof buffer, "%016llx", static_cast<unsigned long long>(value));
  return buffer;
}

}  // namespace idletune
