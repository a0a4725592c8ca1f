// A space without constraints, made at run time: every combination of the values is valid.
#pragma once

#include <string>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/space/space.hpp"

namespace idletune {

// Indexed (a diagram with one node per parameter), whatever its size up to 2^64 - 1 combinations.
// Errors: invalid_argument for too many parameters or values, duplicate names or values, sizes that
// differ, or more combinations than that.
Result<Space> product_space(Span<const std::string> names,
                            Span<const std::vector<std::int64_t>> values);

}  // namespace idletune
