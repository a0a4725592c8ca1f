// What is known of one kernel at one shape on this device, from a model and from what was measured
// here.
#pragma once

#include <cstdint>
#include <optional>

#include <idletune/device.hpp>

#include "agent/belief/uniform_draws.hpp"
#include "agent/scheduler/amortization.hpp"
#include "agent/search/searcher.hpp"
#include "agent/tuning/kernel_model.hpp"

namespace idletune {

// A plain value; one thread at a time.
struct ShapeEvidence {
  std::optional<FirstPick> first_pick;  // of the model; none without one

  // --- from here ---
  bool first_pick_tried = false;  // it was proposed, or runs
  UniformDraws draws;
  // Times are kept on one scale, that of the first measurements: what runs takes `clock` times as
  // long now as it did then.
  double clock = 1;
  // Fastest correct time by any means, since one was taken back; 0: none.
  Nanoseconds best_here{0};
  std::uint64_t evaluated = 0;  // configurations, the default not counted
  std::uint64_t rejected = 0;   // of them, failed

  // A step has ended: `time` is positive where the configuration ran correctly. `counts`: it is the
  // first of its configuration.
  void step_ended(const Proposal& proposal, TrialStatus status, Nanoseconds time,
                  bool counts = true);
  // A uniform draw that cannot even be launched at this shape: no cost, but it found nothing.
  void draw_was_useless() { draws.add_failure(); }
  // A time that was measured now, on that scale.
  Nanoseconds as_at_first(Nanoseconds time) const;
  Nanoseconds as_now(Nanoseconds at_first) const;
  // `time` was measured for a configuration by other means than a step (the baseline, say).
  void saw(Nanoseconds time);
};

// Whether the decision asks for a step now: to tune, or to try the model's first pick where that
// was not done yet.
bool asks_for_step(const Decision& decision, const ShapeEvidence& evidence);

}  // namespace idletune
