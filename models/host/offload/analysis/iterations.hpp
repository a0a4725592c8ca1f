// What was seen of a region's iterations. Needs nothing but the standard library: the profiled
// program links it, too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace idletune::offload {

// Whether an iteration needs what another one left behind.
enum class Iterations : std::uint8_t {
  unknown = 0,
  independent = 1,
  reduction = 2,  // only through sums, products, least or largest values
  dependent = 3   // not to be predicted as if it ran in parallel
};

inline constexpr Iterations kAllIterations[] = {Iterations::unknown, Iterations::independent,
                                                Iterations::reduction, Iterations::dependent};

// "unknown", "independent", ...: as the file of profiles has them.
constexpr const char* iterations_name(Iterations iterations) {
  constexpr const char* kNames[] = {"unknown", "independent", "reduction", "dependent"};
  return kNames[static_cast<std::size_t>(iterations)];
}

}  // namespace idletune::offload
