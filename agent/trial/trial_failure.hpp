// How a stage of a trial says that it failed.
#pragma once

#include <idletune/result.hpp>
#include <idletune/text.hpp>

#include "agent/trial/trial.hpp"

namespace idletune::trial {

// Describes the failure in `outcome`. Returns false, as every step does that failed.
inline bool fail(TrialOutcome& outcome, TrialStatus status, const std::string& message) {
  outcome.status = status;
  outcome.message = message;
  return false;
}

// The same for a failure of `prepare`, which says nothing about the candidate.
inline bool fail_prepare(TrialOutcome& outcome, TrialStatus status, const std::string& message) {
  outcome.stage = TrialStage::prepare;
  return fail(outcome, status, message);
}

// The same for an error of the device's: memory that is short is short for every candidate.
inline bool fail(TrialOutcome& outcome, TrialStatus status, const Status& error) {
  if (error.code() == StatusCode::out_of_memory) outcome.stage = TrialStage::prepare;
  return fail(outcome, status, error.message());
}

// What the error of a compilation says about the configuration.
inline TrialStatus status_of_compile(const Status& status) {
  switch (status.code()) {
    case StatusCode::compile_error: return TrialStatus::compile;
    case StatusCode::invalid_argument:
    case StatusCode::unsupported: return TrialStatus::constraints;  // no compiler, nothing prebuilt
    default: return TrialStatus::runtime;
  }
}

}  // namespace idletune::trial
