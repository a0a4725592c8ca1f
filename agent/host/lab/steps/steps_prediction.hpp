// How many steps random search will need on a device without measurements of this kernel, from
// other devices that have some (Olha et al. 2020, section 3.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <idletune/span.hpp>

namespace idletune {

// The same kernel's space on another device.
struct SpaceOnDevice {
  std::string_view device;
  std::uint64_t configurations = 0;   // valid ones
  std::uint64_t well_performing = 0;  // of those
};

struct StepsPrediction {
  double fraction = 0;      // predicted well-performing fraction
  std::uint64_t steps = 0;  // to find one with the wanted probability
  std::uint64_t fewest =
      0;  // the ends of an interval that should hold the figure in four of five cases;
  std::uint64_t most = 0;  // 0, 0: none was computed
};

// Their rule: the mean fraction of the other devices, and formula 2 (with repetition, rounded
// up). Nothing if none of them has a well-performing configuration.
std::optional<StepsPrediction> predict_steps_by_mean(Span<const SpaceOnDevice> others,
                                                     double probability);

// Ours: the geometric mean, each device weighing e^(-distance of its family from the target's), and
// drawing without repetition from a space of `configurations`. The interval takes the spread
// between the others, and before there are many that of the published fractions.
std::optional<StepsPrediction> predict_steps_by_kinship(std::string_view device,
                                                        std::uint64_t configurations,
                                                        Span<const SpaceOnDevice> others,
                                                        double probability);

}  // namespace idletune
