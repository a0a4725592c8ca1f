// A kernel's text without what compilers do not need.
#pragma once

#include <string>
#include <string_view>

namespace idletune::space {

// `source` in C without comments, indentation and repeated blanks. Every line stays a line, so that
// compilers' messages name the right ones.
std::string compact_source(std::string_view source);

}  // namespace idletune::space
