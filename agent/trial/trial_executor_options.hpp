// What bounds the stages of trials on a device.
#pragma once

#include <chrono>
#include <cstdint>

#include <idletune/device.hpp>

namespace idletune {

constexpr int kSetupDeadlines = 10;  // of a run, for a setup
constexpr Nanoseconds kNoDeadline = std::chrono::hours(24);

struct TrialExecutorOptions {
  // Everything the tuner allocates for one shape: device buffers with their guard zones, and the
  // reference's outputs on the host. A shape that needs more fails in `prepare`.
  std::uint64_t scratch_limit_bytes = std::uint64_t{256} << 20;
  // Each side of every buffer, at least; rounded up to the device's alignment of windows. Zones are
  // as wide as their buffer where the scratch limit leaves room. 0: none.
  std::uint64_t guard_bytes = 4096;
  // Compiled variants kept, the reference not counted. At least 2: incumbent and challenger.
  std::uint32_t compiled_variants = 4;
  // Added to the deadline of a variant's first run: many drivers generate code at the first launch.
  Nanoseconds first_run_allowance{std::chrono::seconds(5)};
  // Of the reference, which nobody has timed yet. Includes its first run's code generation.
  Nanoseconds reference_deadline{std::chrono::seconds(60)};
};

}  // namespace idletune
