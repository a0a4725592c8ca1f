// Which configurations of a kernel its tests run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/space/space.hpp"

namespace idletune::kernel_tests {

using Cost = std::function<double(const Configuration&)>;

// Valid configurations such that every value of every parameter occurs in one of them, and further
// random ones up to `count`. Of a parameter with more than 16 values only the first, the last and
// those drawn anyway. Of configurations that cover equally many, the one of the least `cost`. The
// same list for a seed on every machine; empty if a value occurs in no valid configuration (which
// makes it useless, and is an error in the description).
std::vector<Configuration> covering_configurations(const Space& space, std::size_t count,
                                                   std::uint64_t seed, const Cost& cost = {});

}  // namespace idletune::kernel_tests
