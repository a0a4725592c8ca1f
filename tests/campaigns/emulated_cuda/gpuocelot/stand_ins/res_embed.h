// In the place of a library that holds files: there are none.
#pragma once

#include <cstddef>
#include <string>

namespace res {
namespace embed {
inline bool has(const std::string&) { return false; }
inline const char* get(const std::string&, std::size_t* size = nullptr) {
  if (size != nullptr) *size = 0;
  return nullptr;
}
}  // namespace embed
}  // namespace res
