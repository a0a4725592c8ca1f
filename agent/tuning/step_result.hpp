// What a step of tuning found: one value that goes to the search, the journal and the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <idletune/device.hpp>

#include "agent/scheduler/step_plan.hpp"
#include "agent/search/searcher.hpp"

namespace idletune {

struct StepResult {
  Proposal proposal;
  TrialVerdict verdict = TrialVerdict::reject_failed;
  TrialStatus status = TrialStatus::correct;
  Nanoseconds time{0};              // of a launch; 0 unless `correct`
  Nanoseconds setup{0};             // of the candidate; 0: it has none
  Nanoseconds compile{0};           // code generation of the first launch included
  std::uint32_t checked_seeds = 0;  // data sets on which the output was right
  std::string message{};            // what failed; may be empty
  bool cut = false;                 // CandidateTrial's
  // What the verdict rests on: the candidate's time and that of what runs, taken side by side in
  // `pairs` pairs of runs (0: in screening), and the ratio of the two (of the pairs' median); 0:
  // nothing was timed.
  Nanoseconds candidate{0};
  Nanoseconds incumbent{0};
  std::size_t pairs = 0;
  double ratio = 0;
  Nanoseconds least_gain{0};  // CandidateTrial's
  bool timed_alike = true;    // by the clock that the default was timed by

  // Ran correctly, and how long it takes is known.
  bool timed() const { return status == TrialStatus::correct && time.count() > 0; }
  Observation observation() const { return {status, time, compile}; }

  // Of a trial that is done. Says nothing of the candidate if that was inconclusive.
  static StepResult of(const Proposal& proposal, const CandidateTrial& trial);
  // Of `configuration`, which is measured because it runs already; done.
  static StepResult of(const Configuration& configuration, const ReferenceBaseline& baseline);
};

}  // namespace idletune
