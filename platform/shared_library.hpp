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

}  // namespace idletune
