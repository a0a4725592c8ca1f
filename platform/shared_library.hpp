// Opening a vendor's library at run time.
#pragma once

#include <string>
#include <string_view>

#include <idletune/result.hpp>

namespace idletune {

// The handle that dlopen() gives; it is never closed. `what` begins the message. Errors: not_found;
// invalid_argument if the name is a path that leads to something else than a plain file, which
// dlopen() might wait for.
Result<void*> open_library(std::string_view what, const std::string& library);

// The absolute path of the library that `symbol` lies in. Empty where none can be opened by it: the
// program itself, say.
std::string library_of(const void* symbol);

}  // namespace idletune
