// The agent's version as one number, for the minimum that files may ask for.
#pragma once

#include <cstdint>

namespace idletune {

// "1.2.3" as 1 002 003; parts that are missing are 0.
constexpr std::uint32_t version_number(const char* text) {
  std::uint32_t parts[3] = {0, 0, 0};
  for (unsigned part = 0; part < 3; ++part) {
    for (; *text >= '0' && *text <= '9'; ++text) {
      parts[part] = parts[part] * 10 + static_cast<std::uint32_t>(*text - '0');
    }
    if (*text != '.') break;
    ++text;
  }
  return parts[0] * 1000000 + parts[1] * 1000 + parts[2];
}

inline constexpr std::uint32_t kAgentVersion = version_number(IDLETUNE_VERSION);

}  // namespace idletune
