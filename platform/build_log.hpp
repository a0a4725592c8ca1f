// What of a compiler's log goes into a message.
#pragma once

#include <cstddef>
#include <string>

namespace idletune {

inline constexpr std::size_t kMaxBuildLogBytes = 16u << 20;  // larger ones are not fetched

// At most 20 lines and 2000 bytes from the front, up to the first NUL, without blanks at the end.
std::string excerpt_of_build_log(const std::string& log);

}  // namespace idletune
