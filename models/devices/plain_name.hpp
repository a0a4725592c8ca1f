// Names reduced to what tells them apart. Device-safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace idletune {

// Letters in lower case and digits; whatever else a name holds is left out, with it marks such as
// "(TM)" and "(R)", and what is beyond 128 characters.
class PlainName {
 public:
  explicit PlainName(std::string_view name) {
    for (std::size_t i = 0; i < name.size(); ++i) {
      const char c = name[i];
      const std::size_t end = name.find(')', i);
      if (c == '(' && end != std::string_view::npos && end <= i + 3) i = end;
      const bool upper = c >= 'A' && c <= 'Z';
      const bool kept = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
      if (kept && size_ < sizeof text_)
        text_[size_++] = upper ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  std::string_view text() const { return {text_, size_}; }
  // An empty part is contained in every name.
  bool contains(std::string_view part) const { return text().find(part) != std::string_view::npos; }

 private:
  char text_[128] = {};
  std::size_t size_ = 0;
};

}  // namespace idletune
