// A trial whose danger the journal knows: before anything of it may hang or kill the board it is
// announced, while it rests it is parked, and how it ended is on record.
#pragma once

#include <cstdint>
#include <string>

#include "agent/journal/journal.hpp"
#include "agent/trial/trial.hpp"

namespace idletune {

// One attempt at one configuration. Used by one thread, the journal's. Its records are for
// `journal`, which must outlive it.
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
  JournaledTrial(const JournaledTrial&) = delete;
  JournaledTrial& operator=(const JournaledTrial&) = delete;

  const journal::Trial& identity() const { return trial_; }

  // Call before each stage that runs the configuration or compiles it. Costs a sync before the
  // first of them, before the first that runs it, and before the first after each rest(); else
  // none. `isolated`: a crash is survived by this process. Nothing of it may begin before the
  // journal is durable up to what this returns; 0: too many trials are open, and this one must not
  // begin.
  journal::Serial begin(TrialStage stage, bool isolated);
  // Whether it was begun since the last rest(): most further stages cost no sync.
  bool is_announced() const { return phase_ != Phase::unannounced; }
  // The stage that was announced runs from now on.
  void handed_over() { phase_ = Phase::running; }
  // The stage came to an outcome.
  void ended(const TrialOutcome& outcome);
  // The stage never started, or was stopped: nothing of the trial runs.
  void ended();

  // Nothing of it will run for longer: a death from now on is not its fault. Does nothing if a
  // stage is under way, if nothing was begun since the last rest, or after an ambiguous death. Not
  // synced: a killed process leaves the record to the system, a power cut within the system's
  // write-back time (Linux: about half a minute) may take it, and then the trial is judged as if it
  // had run. (Synced if it was announced and never handed over.) The next begin() costs one more
  // sync.
  void rest();
  // What became of it is on record elsewhere.
  void forget() { phase_ = Phase::unannounced; }

  // The last stage ended in a crash for which somebody else may be to blame (TrialOutcome).
  bool death_is_ambiguous() const { return phase_ == Phase::ambiguous; }
  // The trial is over: a crash or a timeout is quarantined under this driver, at every shape
  // (synced, `message` says why); whatever else it came to, it is closed and no longer suspect (not
  // synced). Not calling it after an ambiguous death leaves the verdict to the next start.
  void conclude(TrialStatus status, const std::string& message);

 private:
  enum class Phase : std::uint8_t { unannounced, announced, resting, running, ambiguous };

  journal::Journal& journal_;
  const journal::Trial trial_;
  journal::Where place_ = journal::Where::helper;  // of the last stage
  Phase phase_ = Phase::unannounced;
};

}  // namespace idletune
