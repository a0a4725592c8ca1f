#include "agent/trial/journaled_trial.hpp"

namespace idletune {

JournaledTrial::JournaledTrial(journal::Journal& journal, const journal::Trial& trial)
    : journal_(journal), trial_(trial) {}

JournaledTrial::~JournaledTrial() { rest(); }

journal::Serial JournaledTrial::begin(TrialStage stage, bool isolated) {
  journal::Intent intent;
  intent.trial = trial_;
  intent.stage =
      runs_configuration(stage) ? journal::IntentStage::run : journal::IntentStage::compile;
  intent.isolated = isolated;
  place_ = isolated ? journal::Where::helper : journal::Where::here;
  phase_ = Phase::announced;
  return journal_.intent(intent);
}

void JournaledTrial::ended(const TrialOutcome& outcome) {
  ended();
  if (outcome.status == TrialStatus::crash && outcome.ambiguous) phase_ = Phase::ambiguous;
}

void JournaledTrial::ended() {
  if (phase_ == Phase::running || phase_ == Phase::announced) phase_ = Phase::resting;
}

void JournaledTrial::rest() {
  if (phase_ == Phase::announced) {
    journal_.withdrawn(trial_, place_);
  } else if (phase_ == Phase::resting) {
    journal_.parked(trial_, place_);
  } else {
    return;
  }
  phase_ = Phase::unannounced;
}

void JournaledTrial::conclude(TrialStatus status, const std::string& message) {
  phase_ = Phase::unannounced;
  switch (status) {
    case TrialStatus::crash:
      return journal_.quarantine(trial_, journal::QuarantineReason::crash, message);
    case TrialStatus::timeout:
      return journal_.quarantine(trial_, journal::QuarantineReason::hang, message);
    default: return journal_.closed(trial_, place_);
  }
}

}  // namespace idletune
