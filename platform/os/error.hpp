// errno to Status, in one place.
#pragma once

#include <string>
#include <string_view>

#include <idletune/result.hpp>

namespace idletune {

// "No space left on device"; any thread.
std::string error_text(int error);

// "<doing> '<path>': <text>" under the code that fits `error`.
Status system_error(std::string_view doing, const std::string& path, int error);

}  // namespace idletune
