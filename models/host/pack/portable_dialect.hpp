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

// `source` behind the dialect and a #line directive, so that compilers number its lines as the file
// `file_name` has them. A source that begins with such a directive of its own keeps it.
std::string with_portable_dialect(std::string_view source, std::string_view file_name);
// `source` in C without comments, indentation and repeated blanks. Every line stays a line, so that
// compilers' messages name the right ones.
std::string compact_source(std::string_view source);

}  // namespace idletune::package
