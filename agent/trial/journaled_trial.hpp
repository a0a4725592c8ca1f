// A trial whose danger the journal knows: before anything of it may hang or kill the board it is
// announced, while it rests it is parked, and how it ended is on record.
#pragma once

#include <cstdint>
#include <string>

#include "agent/journal/journal.hpp"
#include "agent/trial/trial.hpp"

namespace idletune {

// One attempt at one configuration. Used by one thread, the journal's; movable, so that a state of
// work can own it. Its records are for `journal`, which must outlive it.
//
// What the next start concludes if the process or the board dies:
//   nothing was begun, the trial rests parked, or it is concluded     nothing
//   a stage is under way, or it rests without having been parked      the journal judges
//   (README.md) its last death was ambiguous and it was not concluded             the same
class JournaledTrial {
 public:
  JournaledTrial(journal::Journal& journal, const journal::Trial& trial);
  // A trial that rests unfinished is parked; a suspicion of an earlier session stays. One whose
  // stage is under way, or whose death was ambiguous, stays open.
  ~JournaledTrial();
  JournaledTrial(JournaledTrial&& other) noexcept;
  JournaledTrial& operator=(JournaledTrial&& other) noexcept;

  const journal::Trial& identity() const { return trial_; }

  // Call before each stage of the configuration (not before those of the incumbent or of the
  // reference). On return the intent is on the medium: one sync before the first stage, one before
  // the first that runs the configuration, one before the first after each rest(), none otherwise.
  // `isolated`: a crash is survived by this process. False: the journal lives in memory, so only
  // this process will remember.
  bool begin(TrialStage stage, bool isolated);
  // The stage came to an outcome.
  void ended(const TrialOutcome& outcome);
  // The stage never started, or was stopped: nothing of the trial runs.
  void ended();

  // Nothing of it will run for longer: a death from now on is not its fault. Does nothing if a
  // stage is under way, if nothing was begun since the last rest, or after an ambiguous death. Not
  // synced: a killed process leaves the record to the system, a power cut within the system's
  // write-back time (Linux: about half a minute) may take it, and then the trial is judged as if it
  // had run. The next begin() costs one more sync.
  void rest();

  // The last stage ended in a crash for which somebody else may be to blame (TrialOutcome).
  bool death_is_ambiguous() const { return phase_ == Phase::ambiguous; }
  // The trial is over: a crash or a timeout is quarantined under this driver, at every shape
  // (synced, `message` says why); whatever else it came to, it is closed and no longer suspect (not
  // synced). Not calling it after an ambiguous death leaves the verdict to the next start.
  void conclude(TrialStatus status, const std::string& message);

 private:
  enum class Phase : std::uint8_t { unannounced, resting, running, ambiguous };

  journal::Journal* journal_;  // null: moved from
  journal::Trial trial_;
  Phase phase_ = Phase::unannounced;
};

}  // namespace idletune
