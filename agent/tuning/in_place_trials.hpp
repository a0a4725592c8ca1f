// Candidates that passed their checks are timed by the application's own launches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <idletune/race.hpp>

#include "agent/launch/launch_table.hpp"
#include "agent/scheduler/step_plan.hpp"
#include "agent/tuning/shape_work.hpp"

namespace idletune::detail {

// They race with what runs, by the lower quartile of their launches: caches are cold in some of
// them, and whatever else disturbs a launch makes it slower. After kFirstLook launches of each the
// best two go on, beside what runs, and after kSamples of each the better one wins: of four variants
// one is found in 18 to 20 launches. One thread.
struct InPlaceTrials {
  static constexpr std::uint32_t kFirstLook = 3;
  static constexpr std::uint32_t kSamples = 5;

  // `slowdown`: by which share the launches may become slower meanwhile.
  InPlaceTrials(const StepOptions& options, double slowdown, bool are_known = true);
  // `ratio`: as screening found it; 0: unknown.
  void join(double ratio);
  // LaunchTurns: as many launches of each candidate as of what runs, and the others so often that
  // the launches do not become slower than is allowed.
  std::uint32_t turns() const;

  // The i-th entrant is the i-th of PublishedVariants.
  Race times;
  double max_slowdown;
  // Null: the default, in a duel with what runs.
  std::array<std::unique_ptr<TryingCandidate>, LaunchTurns::kCandidates> trials;
  bool times_are_known;  // in a duel: what it tells of both times is nothing new
};

}  // namespace idletune::detail
