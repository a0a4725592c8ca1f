#include "tests/emulated_cuda/declarations.hpp"

#include <algorithm>
#include <cstring>

#include "tests/emulated_cuda/ptx_text.hpp"

namespace emulated_cuda {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 26;  // of one variable
constexpr std::uint64_t kMostAlign = 4096;

std::uint64_t number_at(const std::vector<std::string>& words, std::size_t i, int line) {
  std::uint64_t value = 0;
  if (i >= words.size() || !parse_integer(words[i], value) || value > kMostBytes) {
    PtxText::fail_at(line, "a declaration without its number");
  }
  return value;
}

Space space_named(const std::string& word) {
  if (word == ".shared") return Space::shared;
  if (word == ".local") return Space::local;
  if (word == ".global") return Space::global;
  if (word == ".const") return Space::constant;
  if (word == ".param") return Space::parameter;
  return Space::generic;
}

}  // namespace

Declaration parse_declaration(const std::string& text, int line) {
  const auto words = words_of(text);
  Declaration declared;
  std::uint64_t count = 1;
  bool is_pointer = false;  // its .align is that of what it points to
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const Space space = space_named(word);
    if (word == ".align") {
      const std::uint64_t align = number_at(words, ++i, line);
      if (!is_pointer) declared.align = static_cast<std::size_t>(align);
    } else if (word == ".ptr") {
      is_pointer = true;
    } else if (space != Space::generic) {
      if (!is_pointer) declared.space = space;
    } else if (word[0] == '.') {
      const Type type = type_named(std::string_view(word).substr(1));
      if (type != Type::none) declared.type = type;
    } else if (declared.name.empty()) {
      declared.name = word;
    } else {
      count *= number_at(words, i, line);
    }
    if (count > kMostBytes) PtxText::fail_at(line, "a variable of too many bytes");
  }
  if (size_of(declared.type) == 0 || declared.name.empty() || declared.align == 0 ||
      declared.align > kMostAlign || (declared.align & (declared.align - 1)) != 0) {
    PtxText::fail_at(line, "unknown declaration '" + trimmed(text).substr(0, 60) + "'");
  }
  declared.align = std::max(declared.align, size_of(declared.type));
  declared.bytes = static_cast<std::size_t>(count) * size_of(declared.type);
  if (text.find(".extern") != std::string::npos) declared.bytes = 0;
  return declared;
}

Variable place_in(std::size_t& used, const Declaration& declared, int line) {
  used = (used + declared.align - 1) / declared.align * declared.align;
  Variable variable{declared.space, used, -1};
  used += declared.bytes;
  if (used > kMostBytes) PtxText::fail_at(line, "variables of too many bytes");
  return variable;
}

std::vector<unsigned char> initial_bytes(const Declaration& declared, const std::string& text,
                                         int line) {
  std::vector<unsigned char> bytes(declared.bytes, 0);
  std::string list = trimmed(text);
  if (!list.empty() && list[0] == '{') {
    list = list.substr(1, list.find('}') - 1);
  }
  const std::size_t each = size_of(declared.type);
  std::size_t at = 0;
  for (const std::string& item : split(list, ',')) {
    std::uint64_t value = 0;
    const bool is_float_bits = item.size() > 2 && item[0] == '0' &&
                               std::string_view("fFdD").find(item[1]) != std::string_view::npos;
    if (!parse_integer(is_float_bits ? "0x" + item.substr(2) : item, value)) {
      PtxText::fail_at(line, "unsupported initial value '" + item.substr(0, 40) + "'");
    }
    if (at + each > bytes.size()) PtxText::fail_at(line, "more initial values than elements");
    std::memcpy(bytes.data() + at, &value, each);
    at += each;
  }
  return bytes;
}

}  // namespace emulated_cuda
