#include "platform/build_log.hpp"

namespace idletune {

std::string excerpt_of_build_log(const std::string& log) {
  constexpr std::size_t kBytes = 2000;
  constexpr std::size_t kLines = 20;
  std::size_t end = 0;
  for (std::size_t lines = 0; end < log.size() && log[end] != '\0' && end < kBytes; ++end) {
    if (log[end] == '\n' && ++lines == kLines) break;
  }
  while (end > 0 && (log[end - 1] == '\n' || log[end - 1] == ' ')) --end;
  return log.substr(0, end);
}

}  // namespace idletune
