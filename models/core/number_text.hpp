// A number as text with so many significant digits, as "%g" writes it; 17 lose nothing.
#pragma once

#include <cstdio>
#include <string>

namespace idletune {

inline std::string number_text(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

}  // namespace idletune
