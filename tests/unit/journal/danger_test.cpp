// Deaths, suspects, exposures, wrong outputs: what a journal concludes and keeps of danger.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "agent/journal/journal.hpp"
#include "agent/journal/summary.hpp"
#include "models/core/digest.hpp"
#include "tests/unit/journal/faulty_storage.hpp"
#include "tests/unit/journal/small_journal.hpp"

namespace idletune::journal {
namespace {

using namespace test;
using idletune::test::Disk;

TEST_CASE("a first ambiguous death makes a suspect, a second one a quarantine") {
  const auto disk = std::make_shared<Disk>();
  const Intent intent{trial_of(1), IntentStage::run, true};
  const TrialKey key = intent.trial.key();
  die_during(disk, intent);
  {
    const auto journal = open_on(disk);
    CHECK(journal->recovery().new_suspects == 1);
    CHECK(journal->state().dangers().is_suspect(key));
    CHECK_FALSE(journal->state().dangers().is_quarantined(key));
    CHECK(journal->state().dangers().suspect(key)->trial.configuration ==
          intent.trial.configuration);
  }
  {
    const auto journal = open_on(disk);
    CHECK(journal->recovery().new_suspects == 0);
    CHECK(journal->state().dangers().suspect(key)->deaths == 1);
  }
  die_during(disk, intent, kBoot + 1);
  const auto journal = open_on(disk, kBoot + 2);
  CHECK(journal->recovery().new_quarantines == 1);
  CHECK_FALSE(journal->state().dangers().is_suspect(key));
  REQUIRE(journal->state().dangers().is_quarantined(key));
  CHECK(journal->state().dangers().quarantine(key)->reason == QuarantineReason::repeated_death);
}

TEST_CASE("a suspect that comes to an outcome is forgiven") {
  const auto disk = std::make_shared<Disk>();
  const Intent intent{trial_of(1), IntentStage::run, true};
  die_during(disk, intent);
  {
    const auto journal = open_on(disk);
    CHECK(journal->durable(journal->intent(intent)));
    journal->closed(intent.trial, Where::helper);
    CHECK(journal->sync().ok());
  }
  die_during(disk, intent);
  const auto journal = open_on(disk);
  CHECK(journal->state().dangers().is_suspect(intent.trial.key()));
  CHECK_FALSE(journal->state().dangers().is_quarantined(intent.trial.key()));
}

TEST_CASE("a process or a board that died with the trial in it makes a suspect: nobody saw it") {
  for (const std::uint64_t boot : {kBoot, kBoot + 1, std::uint64_t{0}}) {
    for (IntentStage stage : {IntentStage::compile, IntentStage::run}) {
      const auto disk = std::make_shared<Disk>();
      die_during(disk, {trial_of(1), stage, false});
      const auto journal = open_on(disk, boot);
      CHECK(journal->recovery().new_suspects == 1);
      CHECK(journal->recovery().new_quarantines == 0);
      REQUIRE(journal->state().dangers().is_suspect(trial_of(1)));
      CHECK(journal->state().dangers().suspect(trial_of(1))->at[0].place == Where::here);
      CHECK(journal->state().dangers().suspect(trial_of(1))->session == 1);
    }
  }
}

TEST_CASE("one power cut is one death, at however many shapes a configuration was under way") {
  const auto disk = std::make_shared<Disk>();
  Trial elsewhere = trial_of(1);
  elsewhere.shape = Shape{7, 7};
  {
    const auto journal = open_on(disk);
    journal->intent({trial_of(1), IntentStage::run, false});
    journal->intent({elsewhere, IntentStage::run, true});
  }
  const auto journal = open_on(disk, kBoot + 1);
  CHECK(journal->recovery().new_suspects == 1);
  CHECK_FALSE(journal->state().dangers().is_quarantined(trial_of(1)));
  REQUIRE(journal->state().dangers().suspect(trial_of(1)));
  const Suspect suspect = *journal->state().dangers().suspect(trial_of(1));
  CHECK(suspect.deaths == 1);
  REQUIRE(suspect.at.size() == 2);
  CHECK(suspect.at[0].shape == trial_of(1).key().shape);
  CHECK(suspect.at[0].place == Where::here);
  CHECK(suspect.at[1].shape == elsewhere.key().shape);
  CHECK(suspect.at[1].place == Where::helper);
  CHECK(journal->state().dangers().open_trials().empty());
}

TEST_CASE("a suspicion is recorded at the death, and no clean end forgives it") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto journal = open_on(disk);
    const std::uint64_t syncs = journal->outbox().file_syncs();
    suspected(*journal, trial_of(1), Where::helper, SuspicionCause::helper_killed, "SIGKILL");
    CHECK(journal->outbox().file_syncs() == syncs + 1);
    CHECK(journal->state().dangers().is_suspect(trial_of(1)));
    CHECK(journal->shutdown().ok());
  }
  {
    const auto journal = open_on(disk);
    REQUIRE(journal->state().dangers().suspect(trial_of(1)));
    CHECK(journal->state().dangers().suspect(trial_of(1))->detail == "SIGKILL");
    // The second one, in another session.
    suspected(*journal, trial_of(1), Where::helper, SuspicionCause::helper_killed, "SIGKILL");
    CHECK_FALSE(journal->state().dangers().is_suspect(trial_of(1)));
    REQUIRE(journal->state().dangers().is_quarantined(trial_of(1)));
    CHECK(journal->state().dangers().quarantine(trial_of(1).key())->reason ==
          QuarantineReason::repeated_death);
  }
}

TEST_CASE("within a session it is one death until the suspect is announced anew") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  Trial elsewhere = trial_of(1);
  elsewhere.shape = Shape{7, 7};
  const auto dies_at = [&](const Trial& trial) {
    suspected(*journal, trial, Where::helper, SuspicionCause::helper_killed, "");
  };
  dies_at(trial_of(1));
  dies_at(elsewhere);
  REQUIRE(journal->state().dangers().suspect(trial_of(1)));
  CHECK(journal->state().dangers().suspect(trial_of(1))->at.size() == 2);
  journal->intent({elsewhere, IntentStage::compile, true});
  CHECK(journal->compact().ok());
  dies_at(elsewhere);
  CHECK(journal->state().dangers().is_quarantined(trial_of(1)));
}

TEST_CASE("the end of another trial does not close what a death left") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  journal->intent({trial_of(1), IntentStage::run, true});
  suspected(*journal, trial_of(1), Where::helper, SuspicionCause::helper_killed, "");
  CHECK(journal->state().dangers().open_trials().empty());
  journal->intent({trial_of(1), IntentStage::run, true});
  journal->parked(trial_of(1), Where::helper);
  CHECK(journal->state().dangers().is_suspect(trial_of(1)));
  CHECK(open_on(std::make_shared<Disk>(disk->files()))->state().dangers().is_suspect(trial_of(1)));
}

TEST_CASE("trials acquit of deaths in trials at their shape, launches of deaths in launches") {
  Trial elsewhere = trial_of(1);
  elsewhere.shape = Shape{7, 7};
  struct Case {
    Where death;
    Where outcome;
    bool same_shape;
    bool acquitted;
    bool survived;  // what is still suspect
  };
  for (const Case& c : {Case{Where::helper, Where::helper, true, true, false},
                        Case{Where::helper, Where::helper, false, false, true},
                        Case{Where::helper, Where::launches, true, false, false},
                        Case{Where::here, Where::helper, true, false, true},
                        Case{Where::here, Where::here, true, true, false},
                        Case{Where::launches, Where::helper, true, false, true},
                        Case{Where::launches, Where::here, true, false, true},
                        Case{Where::launches, Where::launches, true, true, false},
                        Case{Where::launches, Where::launches, false, false, false}}) {
    CAPTURE(static_cast<int>(c.death));
    CAPTURE(static_cast<int>(c.outcome));
    CAPTURE(c.same_shape);
    const auto disk = std::make_shared<Disk>();
    const auto journal = open_on(disk);
    suspected(*journal, trial_of(1), c.death, SuspicionCause::application_died, "");
    journal->closed(c.same_shape ? trial_of(1) : elsewhere, c.outcome);
    const auto check = [&](const State& state) {
      const std::optional<Suspect> suspect = state.dangers().suspect(trial_of(1));
      REQUIRE(suspect.has_value() != c.acquitted);
      if (suspect) CHECK(suspect->survived == c.survived);
    };
    check(journal->state());
    REQUIRE(journal->compact().ok());
    check(read_journal(disk->files().at(kJournalName))->state);
  }
}

TEST_CASE("a crash that was seen is confirmed by the reference, or nobody knows who it was") {
  for (const bool well : {true, false}) {
    const auto disk = std::make_shared<Disk>();
    const auto journal = open_on(disk);
    suspected(*journal, trial_of(1), Where::helper, SuspicionCause::crash, "SIGSEGV");
    suspected(*journal, trial_of(2), Where::helper, SuspicionCause::helper_killed, "SIGKILL");
    suspected(*journal, trial_of(3), Where::helper, SuspicionCause::hang, "250 ms");
    CHECK(journal->state().dangers().suspect(trial_of(1))->crash_seen());
    journal->reference_ran(2, 4, true);  // another driver
    CHECK(journal->state().dangers().suspect_count() == 3);
    journal->reference_ran(2, 3, well);
    CHECK(journal->state().dangers().is_suspect(trial_of(2)));
    CHECK(journal->state().dangers().quarantine_count() == (well ? 2 : 0));
    if (well) {
      CHECK(journal->state().dangers().quarantine(trial_of(1).key())->detail == "SIGSEGV");
      CHECK(journal->state().dangers().quarantine(trial_of(3).key())->reason ==
            QuarantineReason::hang);
    } else {
      CHECK(journal->state().dangers().suspect(trial_of(1))->cause == SuspicionCause::device_lost);
      journal->reference_ran(2, 3, true);
      CHECK(journal->state().dangers().quarantine_count() == 0);
      // What it survived elsewhere it survived before it dies, and nobody else.
      Trial elsewhere = trial_of(1);
      elsewhere.shape = Shape{7, 7};
      journal->closed(elsewhere, Where::helper);
      CHECK(journal->state().dangers().suspect(trial_of(1))->survived);
      suspected(*journal, trial_of(1), Where::helper, SuspicionCause::helper_killed, "SIGKILL");
      CHECK_FALSE(journal->state().dangers().suspect(trial_of(1))->survived);
    }
  }
}

TEST_CASE("the reference tells of the deaths of its session, and of no others") {
  for (const bool well : {true, false}) {
    const auto disk = std::make_shared<Disk>();
    {
      const auto journal = open_on(disk);
      suspected(*journal, trial_of(1), Where::helper, SuspicionCause::crash, "SIGSEGV");
      suspected(*journal, trial_of(2), Where::helper, SuspicionCause::crash, "SIGSEGV");
    }
    const auto journal = open_on(disk);
    suspected(*journal, trial_of(3), Where::helper, SuspicionCause::crash, "SIGSEGV");
    CHECK_FALSE(journal->state().dangers().suspect(trial_of(1))->crash_seen_in(2));
    CHECK(journal->state().dangers().suspect(trial_of(3))->crash_seen_in(2));
    journal->reference_ran(2, 3, well);
    CHECK(journal->state().dangers().is_suspect(trial_of(1)));
    CHECK(journal->state().dangers().is_quarantined(trial_of(3)) == well);
    suspected(*journal, trial_of(2), Where::helper, SuspicionCause::crash, "SIGSEGV");
    CHECK(journal->state().dangers().is_quarantined(trial_of(2)));  // the second
    if (well) continue;
    const auto on_disk = read_journal(disk->files().at(kJournalName));
    CHECK(on_disk->state.dangers().suspect(trial_of(3))->deaths == 0);  // it was the device
    suspected(*journal, trial_of(3), Where::helper, SuspicionCause::helper_killed, "SIGKILL");
    CHECK(journal->state().dangers().suspect(trial_of(3))->deaths == 1);
  }
}

// --- Exposures ---

TEST_CASE("exposures are recorded together, and open ones make suspects of this session alone") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto journal = open_on(disk);
    const std::uint64_t syncs = journal->outbox().file_syncs();
    const std::vector<Trial> adopted{trial_of(1), trial_of(2), trial_of(3)};
    CHECK(journal->durable(journal->exposed(adopted, Where::here)));
    CHECK(journal->outbox().file_syncs() == syncs + 1);
    CHECK(journal->exposed(trial_of(1), Where::here) != 0);  // is already
    CHECK(journal->outbox().file_syncs() == syncs + 1);
    CHECK(journal->durable(journal->exposed(trial_of(1), Where::launches)));
    CHECK(journal->state().dangers().is_exposed(trial_of(1).key(), Where::here));
    journal->parked(trial_of(1), Where::here);
    journal->closed(trial_of(2), Where::here);
    journal->withdrawn(trial_of(3), Where::here);
    CHECK(journal->outbox().file_syncs() == syncs + 3);
    CHECK(journal->state().dangers().open_trials().size() == 1);
  }
  const auto journal = open_on(disk, kBoot + 1);
  CHECK(journal->state().dangers().suspect_count() == 1);
  CHECK(journal->state().dangers().suspect(trial_of(1))->at[0].place == Where::launches);
}

TEST_CASE("a trace tells who had begun, and of launches that nothing announced") {
  const Trial begun = trial_of(1), announced = trial_of(2), of_class = trial_of(3);
  const std::uint64_t elsewhere = 77;  // the digest of a shape that nobody has on record
  for (const bool clean : {false, true}) {
    for (const bool knows : {true, false}) {
      CAPTURE(clean);
      CAPTURE(knows);
      const auto disk = std::make_shared<Disk>();
      {
        const auto journal = open_on(disk);
        journal->measured(measurement_of(3));
        const std::vector<Trial> both{begun, announced};
        CHECK(journal->durable(journal->exposed(both, Where::launches)));
        if (clean) {
          for (const Trial& trial : both) journal->parked(trial, Where::launches);
          (void)journal->shutdown();
        }
      }
      JournalOptions options;
      options.boot = 0;  // the trace knows that it is the same
      options.trace = [&](std::uint64_t session, std::vector<Begun>& found) {
        CHECK(session == 1);
        found = {{begun.who(), digest_of(begun.shape), Where::launches},
                 {of_class.who(), elsewhere, Where::launches},
                 {trial_of(4).who(), elsewhere, Where::launches}};  // of which nothing is known
        return knows;
      };
      const auto journal = Journal::open(idletune::test::open_faulty_storage(disk), options);
      const State& state = journal->state();
      CHECK(state.dangers().is_suspect(begun) == !clean);
      CHECK(state.dangers().is_suspect(announced) == (!clean && !knows));
      CHECK(state.dangers().is_suspect(of_class) == (!clean && knows));
      if (clean || !knows) continue;
      const std::optional<Suspect> suspect = state.dangers().suspect(of_class);
      CHECK(suspect->cause == SuspicionCause::application_died);
      REQUIRE(suspect->at.size() == 1);
      CHECK(suspect->at[0].shape == elsewhere);
    }
  }
}

TEST_CASE("an exposure of an earlier session, kept by those who cannot read it, says nothing") {
  State state;
  const auto apply = [&](RecordType type, const Payload& payload) {
    CHECK(state.apply(static_cast<std::uint8_t>(type), 1, payload) == Replayed::understood);
  };
  apply(RecordType::session, encode(Session{kBoot, 4}));
  apply(RecordType::exposure, encode(Exposure{trial_of(1), Where::launches, 3}));
  CHECK(state.dangers().open_trials().empty());
  apply(RecordType::exposure, encode(Exposure{trial_of(1), Where::launches, 4}));
  CHECK(state.dangers().open_trials().size() == 1);
}

// --- What is wrong, and what is known under other drivers ---

TEST_CASE("what is wrong at a shape stays wrong, and its measurement may be forgotten") {
  const auto disk = std::make_shared<Disk>();
  Trial lent = trial_of(1);
  lent.data = 99;
  {
    const auto journal = open_on(disk);
    const std::uint64_t syncs = journal->outbox().file_syncs();
    journal->wrong(lent, 77);
    CHECK(journal->outbox().file_syncs() == syncs + 1);
    Measurement old = measurement_of(2);
    old.status = TrialStatus::correctness;
    journal->measured(old);
    journal->measured(measurement_of(2));  // right later on
    CHECK(journal->compact().ok());
  }
  const auto journal = open_on(disk);
  const State& state = journal->state();
  CHECK(state.dangers().is_wrong(trial_of(1)));
  CHECK(state.dangers().is_wrong(trial_of(2)));
  CHECK_FALSE(state.dangers().is_wrong(trial_of(3)));
  Trial elsewhere = trial_of(1);
  elsewhere.shape = Shape{7, 7};
  CHECK_FALSE(state.dangers().is_wrong(elsewhere));
  std::vector<std::uint64_t> classes;
  state.dangers().for_each_wrong(1, 2, 3, [&](const Wrong& wrong) {
    classes.push_back(wrong.class_key);
    CHECK(wrong.trial.data == (wrong.class_key == 77 ? 99 : 0));
  });
  std::sort(classes.begin(), classes.end());
  CHECK(classes == std::vector<std::uint64_t>{0, 77});
  state.dangers().for_each_wrong(1, 2, 4, [](const Wrong&) { CHECK(false); });
}

TEST_CASE("a danger on lent data is one on all data") {
  const auto disk = std::make_shared<Disk>();
  Trial lent = trial_of(1);
  lent.data = 99;
  Trial other = trial_of(1);
  other.data = 100;
  other.shape = Shape{7, 7};
  const auto journal = open_on(disk);
  journal->intent({lent, IntentStage::run, true});
  journal->quarantine(lent, QuarantineReason::crash, "");
  CHECK(journal->state().dangers().open_trials().empty());
  CHECK(journal->state().dangers().is_quarantined(other));
  CHECK(journal->state().dangers().is_quarantined(trial_of(1)));
  other.configuration = lent.configuration = Configuration{2, 8};
  suspected(*journal, lent, Where::helper, SuspicionCause::helper_killed, "");
  CHECK(journal->state().dangers().is_suspect(other));
}

TEST_CASE(
    "what older versions knew of lent data under a driver of its own counts for the plain one") {
  const std::uint64_t mixed = 3 ^ 99;
  Trial old = trial_of(1);
  old.driver = mixed;
  State state;
  const auto apply = [&](RecordType type, const Payload& payload) {
    CHECK(state.apply(static_cast<std::uint8_t>(type), 1, payload) == Replayed::understood);
  };
  apply(RecordType::session, encode(Session{kBoot, 1}));
  apply(RecordType::name, encode(Name{NameKind::driver, 3, "22.1"}));
  apply(RecordType::name, encode(Name{NameKind::driver, 4, "22.2"}));
  apply(RecordType::name, encode(Name{NameKind::driver, mixed, "22.1, captured arguments"}));
  apply(RecordType::quarantine, encode(Quarantine{old, old.key(), QuarantineReason::crash, ""}));
  old.configuration = Configuration{2, 8};
  Suspect suspect;
  suspect.trial = old;
  suspect.key = old.key();
  suspect.deaths = 1;
  apply(RecordType::suspect, encode(suspect));
  Measurement measured = measurement_of(3);
  measured.trial.driver = mixed;
  measured.status = TrialStatus::correctness;
  apply(RecordType::measurement, encode(measured));
  Adoption adoption;
  adoption.trial = trial_of(4);
  adoption.trial.driver = mixed;
  apply(RecordType::adoption, encode(adoption));
  apply(RecordType::intent, encode(Intent{adoption.trial, IntentStage::run, true}));
  CHECK(state.dangers().is_quarantined(trial_of(1)));
  CHECK(state.dangers().is_suspect(trial_of(2)));
  CHECK(state.dangers().is_wrong(trial_of(3)));
  Trial lent = trial_of(4);
  lent.data = 99;
  REQUIRE(state.adoption(lent.shape_key()));
  CHECK(state.adoption(lent.shape_key())->trial.driver == 3);
  CHECK(state.adoption(lent.shape_key())->trial.data == 99);
  REQUIRE(state.dangers().open_trials().size() == 1);
  CHECK(state.dangers().open_trials().front().trial.plain_key().driver == 3);
  old.configuration = Configuration{2, 8};
  apply(RecordType::closed, encode(Ended{old.key()}));
  CHECK_FALSE(state.dangers().is_suspect(trial_of(2)));
}

TEST_CASE("closed, parked and shut down trials are nobody's fault") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto journal = open_on(disk);
    journal->intent({trial_of(1), IntentStage::run, false});
    journal->closed(trial_of(1), Where::here);
    journal->intent({trial_of(2), IntentStage::run, false});
    journal->parked(trial_of(2), Where::here);
  }
  {
    const auto journal = open_on(disk);
    CHECK(journal->recovery().new_suspects + journal->recovery().new_quarantines == 0);
    journal->intent({trial_of(3), IntentStage::run, false});
    CHECK(journal->shutdown().ok());
  }
  const auto journal = open_on(disk);
  CHECK(journal->recovery().new_suspects + journal->recovery().new_quarantines == 0);
}

TEST_CASE("recording goes on after a shutdown and is judged again") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto journal = open_on(disk);
    CHECK(journal->shutdown().ok());
    CHECK(journal->intent({trial_of(1), IntentStage::run, true}));
  }
  CHECK(open_on(disk)->state().dangers().is_suspect(trial_of(1).key()));
}

}  // namespace
}  // namespace idletune::journal
