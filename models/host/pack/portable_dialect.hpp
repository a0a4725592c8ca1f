// Host side: what makes one kernel text compile as OpenCL C 1.2 and as CUDA C++.
#pragma once

#include <string>
#include <string_view>

namespace idletune::package {

// The text of models/package/portable_dialect.cl.
std::string_view portable_dialect();
// That of portable_dialect_numbers.cl, which only sources that use a name of it get.
std::string_view portable_dialect_numbers();

// True if the dialect defines `name` as a macro, so that no tuning parameter can be called that.
bool is_dialect_name(std::string_view name);

// Whether it uses such a name, other than those that it defines itself.
bool uses_numbers(std::string_view source);
// What takes those names away that it defines itself.
std::string without_own_numbers(std::string_view source);

// `source` behind the dialect (and `numbers`: its further names) and a #line directive, so that
// compilers number its lines as the file `file_name` has them. A source that begins with such a
// directive of its own keeps it.
std::string with_portable_dialect(std::string_view source, std::string_view file_name,
                                  bool numbers);
// `source` in C without comments, indentation and repeated blanks. Every line stays a line, so that
// compilers' messages name the right ones.
std::string compact_source(std::string_view source);

}  // namespace idletune::package
