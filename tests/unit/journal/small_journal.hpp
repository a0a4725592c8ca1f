// A journal on a disk in memory, and small things to record in it.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "agent/journal/journal.hpp"
#include "tests/unit/journal/faulty_storage.hpp"

namespace idletune::journal::test {

inline constexpr std::uint64_t kBoot = 1000;

inline std::unique_ptr<Journal> open_on(const std::shared_ptr<idletune::test::Disk>& disk,
                                        std::uint64_t boot = kBoot) {
  JournalOptions options;
  options.boot = boot;
  return Journal::open(idletune::test::open_faulty_storage(disk), options);
}

inline Trial trial_of(std::int64_t configuration) {
  Trial trial;
  trial.kernel = 1;
  trial.device = 2;
  trial.driver = 3;
  trial.shape = Shape{128, 64};
  trial.configuration = Configuration{configuration, 8};
  return trial;
}

inline Measurement measurement_of(std::int64_t configuration) {
  Measurement measurement;
  measurement.trial = trial_of(configuration);
  measurement.median = std::chrono::nanoseconds(1000 + configuration);
  return measurement;
}

// A death of which the journal is told.
inline void suspected(Journal& journal, const Trial& trial, Where place, SuspicionCause cause,
                      const std::string& detail) {
  Verdict verdict;
  verdict.trial = trial;
  verdict.cause = cause;
  verdict.at = {{trial.plain_key().shape, place}};
  verdict.detail = detail;
  (void)journal.accuse({verdict});
}

// A session that dies while `intent` is open.
inline void die_during(const std::shared_ptr<idletune::test::Disk>& disk, const Intent& intent,
                       std::uint64_t boot = kBoot) {
  const auto journal = open_on(disk, boot);
  CHECK(journal->durable(journal->intent(intent)));
}

}  // namespace idletune::journal::test
