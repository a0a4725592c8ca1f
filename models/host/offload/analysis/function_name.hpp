// Names of functions as users know them. Needs nothing but the standard library.
#pragma once

#include <cstddef>
#include <string>

namespace idletune::offload {

// Of a demangled name, "float space::f<int>(int)", what can be asked for: "space::f<int>". What is
// local to a function has no such name, and stays as it is.
inline std::string without_arguments(std::string name) {
  const std::string unnamed = "(anonymous namespace)::";
  for (std::size_t at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed)) {
    name.erase(at, unnamed.size());
  }
  if (name.find(")::") != std::string::npos) return name;
  // An operator's own name may have parentheses, angle brackets and spaces.
  const std::string word = "operator";
  const std::size_t found = name.rfind(word);
  const bool is_operator =
      found != std::string::npos &&
      (found == 0 || name[found - 1] == ':' || name[found - 1] == ' ') &&
      (found + word.size() == name.size() ||
       std::string("()[]<>=!+-*/%^&|~, ").find(name[found + word.size()]) != std::string::npos);
  const std::size_t begin = is_operator ? found + word.size() : 0;
  const bool is_call = is_operator && name.compare(begin, 2, "()") == 0;
  const std::string plain = name.substr(0, name.find('(', begin + (is_call ? 2 : 0)));
  int depth = 0;
  for (std::size_t i = is_operator ? found : plain.size(); i > 0; --i) {
    if (plain[i - 1] == '>') ++depth;
    if (plain[i - 1] == '<') --depth;
    if (plain[i - 1] == ' ' && depth == 0) return plain.substr(i);
  }
  return plain;
}

}  // namespace idletune::offload
