// What the program was compiled with: "result=PATH;full=1".
#pragma once

#include <string>

namespace idletune::offload {

// Empty if `settings` have none of that name.
inline std::string setting(const char* settings, const char* name) {
  const std::string text = std::string(";") + settings + ";";
  const std::string key = std::string(";") + name + "=";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return std::string();
  const std::size_t begin = at + key.size();
  return text.substr(begin, text.find(';', begin) - begin);
}

}  // namespace idletune::offload
