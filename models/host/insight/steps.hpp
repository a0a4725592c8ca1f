// How many steps random search needs. Device-safe.
#pragma once

#include <cstdint>
#include <optional>

namespace idletune {

// Formula 2 of Olha et al. 2020: the smallest whole n with 1 - (1 - p_b)^n >= p_s, for
// draws with replacement. Nothing if p_b is not positive (it is never reached); 1 if p_b >= 1. p_s
// in [0, 1).
std::optional<std::uint64_t> random_search_steps(double well_performing_fraction,
                                                 double probability);

// The same for draws without repetition from `valid` configurations of which `well_performing` are
// good (hypergeometric): never more than the above. Nothing if none is good. Exact up to 10^7
// steps; beyond, the figure with replacement.
std::optional<std::uint64_t> random_search_steps_without_repetition(std::uint64_t valid,
                                                                    std::uint64_t well_performing,
                                                                    double probability);

}  // namespace idletune
