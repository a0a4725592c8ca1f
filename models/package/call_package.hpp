// The package of what is no kernel: calls that the application makes, with settings of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/space/space.hpp"

namespace idletune {

// The bytes of a package without source, of one step that takes no arguments of the application's.
// Dimensions are at least 0; all features are given. The name is part of the package's digest. No
// dimensions: one that is always 0, which shapes must have. Error: invalid_argument, where a name is
// no identifier or there are too many.
Result<std::vector<std::uint8_t>> call_package(std::string_view name, const Space& space,
                                               const Configuration& untuned,
                                               Span<const std::string> dimensions,
                                               Span<const std::string> features);

}  // namespace idletune
