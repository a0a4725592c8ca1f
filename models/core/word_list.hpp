// Lists of words in one text, with single spaces between.
#pragma once

#include <algorithm>
#include <string_view>

namespace idletune {

// Whether it is one of the words of `list`.
inline bool is_listed(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

}  // namespace idletune
