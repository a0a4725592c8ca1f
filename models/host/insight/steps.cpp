#include "models/host/insight/steps.hpp"

#include <algorithm>

#include "models/core/random_search.hpp"

namespace idletune {

namespace {

constexpr std::uint64_t kMaxExactSteps = 10000000;

}  // namespace

std::optional<std::uint64_t> random_search_steps(double well_performing_fraction,
                                                 double probability) {
  const double steps = whole_steps(steps_for_probability(well_performing_fraction, probability));
  if (!(well_performing_fraction > 0) || !(steps < 1e18)) return std::nullopt;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(steps));
}

std::optional<std::uint64_t> random_search_steps_without_repetition(std::uint64_t valid,
                                                                    std::uint64_t well_performing,
                                                                    double probability) {
  if (valid == 0 || well_performing == 0) return std::nullopt;
  const std::uint64_t good = std::min(valid, well_performing);
  const std::optional<std::uint64_t> bound =
      random_search_steps(static_cast<double>(good) / static_cast<double>(valid), probability);
  if (!bound || *bound > kMaxExactSteps) return bound;
  double all_missed = 1;
  for (std::uint64_t step = 1; step <= *bound; ++step) {
    const std::uint64_t drawn = step - 1;
    if (drawn + good >= valid) return step;  // only good ones are left
    all_missed *= static_cast<double>(valid - drawn - good) / static_cast<double>(valid - drawn);
    // A product that reaches it exactly may be rounded below.
    if (1 - all_missed >= probability - 1e-12) return step;
  }
  return bound;
}

}  // namespace idletune
