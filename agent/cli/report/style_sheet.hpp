// The page's style sheet.
#pragma once

#include <string_view>

namespace idletune::report {

// Free of the characters that XML would want escaped.
std::string_view style_sheet();

}  // namespace idletune::report
