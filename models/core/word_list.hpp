// Lists of words in one text.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

namespace idletune {

// Whether it is one of the words of `list`, which have single spaces between.
inline bool is_listed(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

// The word of that number, from 0, of `words`, each of which ends with a zero byte; "unknown": it has
// fewer. A table of texts would cost a pointer and its relocation for each.
inline const char* word_of(const char* words, unsigned number) {
  for (; number > 0 && *words != '\0'; --number) words += std::strlen(words) + 1;
  return *words != '\0' ? words : "unknown";
}

}  // namespace idletune
