#include "agent/trial/journaled_trial.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/unit/journal/small_journal.hpp"

using namespace idletune;
using idletune::journal::test::trial_of;
using idletune::test::Disk;
using idletune::test::PowerCutter;

namespace {

constexpr std::uint64_t kBoot = 7;
constexpr bool kIsolated = true;
constexpr bool kInProcess = false;

std::unique_ptr<journal::Journal> open_on(const std::shared_ptr<Disk>& disk,
                                          std::uint64_t boot = kBoot) {
  disk->locked = false;  // the last process is gone
  return journal::test::open_on(disk, boot);
}

const journal::TrialKey kKey = trial_of(1).key();

TrialOutcome outcome_of(TrialStatus status, bool ambiguous = false) {
  TrialOutcome outcome;
  outcome.status = status;
  outcome.ambiguous = ambiguous;
  return outcome;
}

void run_stage(JournaledTrial& trial, TrialStage stage, bool isolated = kIsolated) {
  CHECK(trial.begin(stage, isolated));
  trial.ended(outcome_of(TrialStatus::correct));
}

enum class Judged { innocent, suspect, quarantined };

// What the start after this one thinks of configuration 1.
Judged judged(const std::shared_ptr<Disk>& disk, std::uint64_t boot = kBoot) {
  const auto journal = open_on(disk, boot);
  if (journal->state().dangers().is_quarantined(kKey)) return Judged::quarantined;
  return journal->state().dangers().is_suspect(kKey) ? Judged::suspect : Judged::innocent;
}

// The process dies after `life`, without running any destructor of the trial.
template <class Life>
Judged judged_after_kill(const Life& life, std::uint64_t next_boot = kBoot) {
  const auto disk = std::make_shared<Disk>();
  auto journal = open_on(disk);
  auto trial = std::make_unique<JournaledTrial>(*journal, trial_of(1));
  life(*trial);
  const auto as_it_died = std::make_shared<Disk>(disk->files());
  trial.reset();
  return judged(as_it_died, next_boot);
}

}  // namespace

TEST_CASE("a process killed while something of a trial runs makes a suspect, wherever it runs") {
  for (TrialStage stage : {TrialStage::compile, TrialStage::check, TrialStage::measure}) {
    const auto in_helper = [=](JournaledTrial& trial) { trial.begin(stage, kIsolated); };
    CHECK(judged_after_kill(in_helper) ==
          (runs_configuration(stage) ? Judged::suspect : Judged::innocent));
    CHECK(judged_after_kill(in_helper, kBoot + 1) == Judged::suspect);
    CHECK(judged_after_kill([=](JournaledTrial& trial) { trial.begin(stage, kInProcess); }) ==
          Judged::suspect);
  }
}

TEST_CASE("a process killed while the trial rests parked blames nobody, wherever it ran") {
  for (bool isolated : {kIsolated, kInProcess}) {
    CHECK(judged_after_kill([=](JournaledTrial& trial) {
            run_stage(trial, TrialStage::compile, isolated);
            run_stage(trial, TrialStage::check, isolated);
            trial.rest();
          }) == Judged::innocent);
  }
}

TEST_CASE("a trial that rests without having been parked is judged as if it ran") {
  CHECK(judged_after_kill([](JournaledTrial& trial) { run_stage(trial, TrialStage::check); }) ==
        Judged::suspect);
}

TEST_CASE("a parked trial that goes on is announced again") {
  CHECK(judged_after_kill([](JournaledTrial& trial) {
          run_stage(trial, TrialStage::check);
          trial.rest();
          trial.begin(TrialStage::measure, kIsolated);
        }) == Judged::suspect);
}

TEST_CASE("resting while a stage is under way does not hide it") {
  CHECK(judged_after_kill([](JournaledTrial& trial) {
          trial.begin(TrialStage::check, kIsolated);
          trial.handed_over();
          trial.rest();
        }) == Judged::suspect);
}

TEST_CASE("what was announced and never handed over accuses nobody once it rests, cuts included") {
  for (const std::uint64_t boot : {kBoot, kBoot + 1}) {
    CHECK(judged_after_kill(
              [](JournaledTrial& trial) {
                trial.begin(TrialStage::check, kIsolated);
                trial.rest();
              },
              boot) == Judged::innocent);
  }
}

TEST_CASE("a trial that is not finished rests when it is destroyed, unless a stage is under way") {
  const auto life = [](const auto& work) {
    const auto disk = std::make_shared<Disk>();
    const auto journal = open_on(disk);
    {
      JournaledTrial trial(*journal, trial_of(1));
      work(trial);
    }
    return judged(std::make_shared<Disk>(disk->files()));
  };
  CHECK(life([](JournaledTrial&) {}) == Judged::innocent);
  CHECK(life([](JournaledTrial& trial) { run_stage(trial, TrialStage::check, kInProcess); }) ==
        Judged::innocent);
  CHECK(life([](JournaledTrial& trial) {
          trial.begin(TrialStage::check, kIsolated);
          trial.handed_over();
        }) == Judged::suspect);
  CHECK(life([](JournaledTrial& trial) {
          trial.begin(TrialStage::check, kInProcess);
          trial.ended();  // it could not be started
        }) == Judged::innocent);
}

TEST_CASE("an ambiguous death is left to the next start, a concluded one is quarantined at once") {
  const auto die = [](JournaledTrial& trial) {
    trial.begin(TrialStage::check, kIsolated);
    trial.ended(outcome_of(TrialStatus::crash, /*ambiguous=*/true));
    CHECK(trial.death_is_ambiguous());
    trial.rest();
  };
  CHECK(judged_after_kill(die) == Judged::suspect);
  CHECK(judged_after_kill([&](JournaledTrial& trial) {
          die(trial);
          trial.conclude(TrialStatus::crash, "again");
        }) == Judged::quarantined);

  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  {
    JournaledTrial trial(*journal, trial_of(1));
    die(trial);
  }
  CHECK(journal->state().dangers().open_trial(kKey) != nullptr);
  // The second attempt of the same process: an outcome clears what was open.
  JournaledTrial trial(*journal, trial_of(1));
  run_stage(trial, TrialStage::check);
  CHECK_FALSE(trial.death_is_ambiguous());
  trial.conclude(TrialStatus::correct, "");
  CHECK(journal->state().dangers().open_trials().empty());
}

TEST_CASE("crashes and timeouts are quarantined with their reason, everything else is closed") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  const auto conclude = [&](std::int64_t configuration, TrialStatus status) {
    JournaledTrial trial(*journal, trial_of(configuration));
    trial.begin(TrialStage::check, kIsolated);
    trial.ended(outcome_of(status));
    trial.conclude(status, "why");
    return journal->state().dangers().quarantine(trial.identity().key());
  };
  CHECK(conclude(1, TrialStatus::crash)->reason == journal::QuarantineReason::crash);
  CHECK(conclude(2, TrialStatus::timeout)->reason == journal::QuarantineReason::hang);
  CHECK(conclude(2, TrialStatus::timeout)->detail == "why");
  for (TrialStatus status : {TrialStatus::correct, TrialStatus::compile, TrialStatus::runtime,
                             TrialStatus::correctness, TrialStatus::constraints}) {
    CHECK_FALSE(conclude(3, status));
  }
  CHECK(journal->state().dangers().open_trials().empty());
}

TEST_CASE("a suspect stays one while nothing came of it, and an outcome forgives it") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto journal = open_on(disk);
    CHECK(journal->durable(journal->intent({trial_of(1), journal::IntentStage::run, kIsolated})));
  }
  const auto journal = open_on(disk);
  REQUIRE(journal->state().dangers().is_suspect(kKey));
  {
    JournaledTrial trial(*journal, trial_of(1));
    run_stage(trial, TrialStage::compile);
  }
  CHECK(journal->state().dangers().is_suspect(kKey));
  JournaledTrial trial(*journal, trial_of(1));
  run_stage(trial, TrialStage::check);
  trial.conclude(TrialStatus::correct, "");
  CHECK_FALSE(journal->state().dangers().is_suspect(kKey));
}

TEST_CASE("without a journal's folder a trial goes on, and only this process remembers") {
  const auto journal = journal::Journal::open(nullptr, journal::JournalOptions());
  JournaledTrial trial(*journal, trial_of(1));
  CHECK(trial.begin(TrialStage::compile, kIsolated));
  trial.ended(outcome_of(TrialStatus::crash));
  trial.conclude(TrialStatus::crash, "");
  CHECK(journal->state().dangers().is_quarantined(kKey));
}

TEST_CASE("a step costs two syncs in one gap, and one more for each gap after a rest") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  const auto syncs_of_step = [&](std::int64_t configuration, bool rests) {
    const std::uint64_t before = journal->outbox().file_syncs();
    JournaledTrial trial(*journal, trial_of(configuration));
    for (TrialStage stage : {TrialStage::compile, TrialStage::check, TrialStage::check,
                             TrialStage::measure, TrialStage::measure}) {
      run_stage(trial, stage);
      if (rests) trial.rest();
    }
    trial.conclude(TrialStatus::correct, "");
    return journal->outbox().file_syncs() - before;
  };
  CHECK(syncs_of_step(1, false) == 2);
  CHECK(syncs_of_step(2, true) == 5);  // five gaps; the compile's and the first run's are the two
}

// --- The power is cut ---

namespace {

// At which operations of the disk what held, for one trial whose stages come in separate gaps.
struct Life {
  struct Span {
    std::size_t from;
    std::size_t until;
  };
  std::vector<Span> stages;      // something of it ran
  std::vector<Span> sure_rests;  // nothing ran, and the medium knew
  std::size_t concluded = 0;     // crashed, and the medium knew
};

Life live(const std::shared_ptr<Disk>& disk) {
  Life life;
  const auto journal = open_on(disk);
  const auto position = [&] { return disk->operations.size(); };
  JournaledTrial trial(*journal, trial_of(1));
  for (TrialStage stage : {TrialStage::compile, TrialStage::check, TrialStage::measure}) {
    CHECK(trial.begin(stage, kIsolated));
    const std::size_t from = position();
    disk->perform({});  // something else happens meanwhile
    trial.ended(outcome_of(TrialStatus::correct));
    life.stages.push_back({from, position()});
    trial.rest();
    CHECK(journal->sync().ok());
    const std::size_t rests = position();
    disk->perform({});
    life.sure_rests.push_back({rests, position()});
  }
  trial.begin(TrialStage::measure, kIsolated);
  trial.ended(outcome_of(TrialStatus::crash));
  trial.conclude(TrialStatus::crash, "SIGSEGV");
  life.concluded = position();
  disk->perform({});
  return life;
}

bool within(const std::vector<Life::Span>& spans, std::size_t position) {
  for (const Life::Span& span : spans) {
    if (span.from <= position && position <= span.until) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("wherever the power is cut, what ran is suspected and what surely rested is not") {
  const auto disk = std::make_shared<Disk>();
  const Life life = live(disk);
  PowerCutter cutter(*disk);
  Random random(5);
  int in_stages = 0;
  int in_rests = 0;
  for (;;) {
    for (test::Cut cut : test::kAllCuts) {
      for (int repeat = 0; repeat < 8; ++repeat) {
        const Judged verdict = judged(std::make_shared<Disk>(cutter.image(cut, random)), kBoot + 1);
        CAPTURE(cutter.position());
        CAPTURE(static_cast<int>(cut));
        if (within(life.stages, cutter.position())) {
          ++in_stages;
          CHECK(verdict == Judged::suspect);
        } else if (within(life.sure_rests, cutter.position())) {
          ++in_rests;
          CHECK(verdict == Judged::innocent);
        } else if (cutter.position() >= life.concluded) {
          CHECK(verdict == Judged::quarantined);
        } else {
          const bool too_hard =
              verdict == Judged::quarantined && cutter.position() <= life.sure_rests.back().until;
          CHECK_FALSE(too_hard);
        }
      }
    }
    if (cutter.at_end()) break;
    cutter.advance();
  }
  CHECK(in_stages >= 3 * 32);
  CHECK(in_rests >= 3 * 32);
}
