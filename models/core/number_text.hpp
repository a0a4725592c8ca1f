// Numbers as text, in whatever language the application has.
#pragma once

#include <cstdio>
#include <string>

namespace idletune {

inline std::string with_point(std::string number) {
  for (char& c : number) c = c == ',' ? '.' : c;
  return number;
}

// With so many significant digits, as "%g" writes it in the language "C"; 17 lose nothing.
inline std::string number_text(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return with_point(text);
}

}  // namespace idletune
