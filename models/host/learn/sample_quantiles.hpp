// The quantiles that a model keeps of a sample.
#pragma once

#include <array>

#include <idletune/span.hpp>

#include "models/predict/quantiles.hpp"

namespace idletune {

// Of sorted ascending values (at least one), at quantile_levels(): at level u the smallest value
// whose share of values not above it is >= u; at 0 the smallest value.
std::array<float, kQuantileCount> quantiles_of(Span<const double> sorted);

}  // namespace idletune
