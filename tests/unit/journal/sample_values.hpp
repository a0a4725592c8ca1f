// One value of each kind, with every field set to something that is not its default.
#pragma once

#include "agent/journal/codec.hpp"

namespace idletune::journal::test {

using idletune::journal::Payload;

inline Trial sample_trial() {
  Trial trial;
  trial.kernel = 0x1111111111111111ull;
  trial.device = 0x2222222222222222ull;
  trial.driver = 0x3333333333333333ull;
  trial.shape = Shape{1024, 1, INT64_MAX};
  trial.configuration = Configuration{64, 0, -1, INT64_MIN, 300};
  return trial;
}

inline Intent sample_intent() { return {sample_trial(), IntentStage::run, false}; }

inline Quarantine sample_quarantine() {
  return {sample_trial(), sample_trial().key(), QuarantineReason::hang, "outlived 250 ms"};
}

inline Suspect sample_suspect() {
  Suspect suspect;
  suspect.trial = sample_trial();
  suspect.key = sample_trial().key();
  suspect.deaths = 1;
  suspect.session = 300;
  suspect.cause = SuspicionCause::hang;
  suspect.retried = suspect.survived = true;
  suspect.at = {{suspect.key.shape, Where::helper}, {5, Where::launches}};
  suspect.detail = "outlived 250 ms";
  return suspect;
}

inline Exposure sample_exposure() { return {sample_trial(), Where::launches, 300}; }

inline Wrong sample_wrong() { return {sample_trial(), 0x4444444444444444ull}; }

inline Ended sample_end() { return {sample_trial().key(), true, Where::launches, 0}; }

inline Measurement sample_measurement() {
  Measurement measurement;
  measurement.trial = sample_trial();
  measurement.status = TrialStatus::correct;
  measurement.median = std::chrono::nanoseconds(123456789);
  measurement.minimum = std::chrono::nanoseconds(120000000);
  measurement.samples = 7;
  measurement.compile = std::chrono::milliseconds(415);
  measurement.checked_seeds = 2;
  measurement.unix_seconds = 1750000000;
  return measurement;
}

inline Adoption sample_adoption() {
  return {sample_trial(), std::chrono::microseconds(900), std::chrono::microseconds(2100), 2};
}

inline Demotion sample_demotion() {
  return {sample_trial().shape_key(),
          sample_trial().configuration,
          DemotionReason::slower_in_launches,
          1250000,
          3,
          UINT64_MAX};
}

inline Ledger sample_ledger() {
  return {std::chrono::milliseconds(17), std::chrono::hours(3), std::chrono::nanoseconds(-5)};
}

inline ShapeStatistics sample_statistics() {
  return {0x1111111111111111ull, Shape{1024, 1, INT64_MAX}, UINT64_MAX, 86400, 12};
}

}  // namespace idletune::journal::test
