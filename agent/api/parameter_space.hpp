// The space that an application describes by its parameters alone.
#pragma once

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/tuner.hpp>

#include "models/space/space.hpp"

namespace idletune {

// `untuned` receives the first value of each. Errors: those of product_space.
Result<Space> space_of(Span<const TunerParameter> parameters, Configuration& untuned);

}  // namespace idletune
