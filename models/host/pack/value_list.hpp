// Host side: the lists of values that parameters have in XML.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <idletune/result.hpp>

namespace idletune::package {

// Reads integers separated by blanks or commas; "4..12" are all between (both included), "4..12:4"
// steps of 4, "8..128*2" doubling. At most kMaxParameterValues. Error: invalid_argument saying
// which word.
Result<std::vector<std::int64_t>> parse_values(std::string_view text);

}  // namespace idletune::package
