#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "agent/journal/state.hpp"
#include "models/core/random.hpp"
#include "tests/unit/journal/losses.hpp"

namespace idletune::journal {
namespace {

using std::chrono::nanoseconds;

Trial trial_of(std::uint64_t driver, std::int64_t shape, std::int64_t configuration) {
  Trial trial;
  trial.kernel = 1;
  trial.device = 2;
  trial.driver = driver;
  trial.shape = Shape{shape};
  trial.configuration = Configuration{configuration};
  return trial;
}

Measurement measurement_of(const Trial& trial, std::int64_t median_ns) {
  Measurement measurement;
  measurement.trial = trial;
  measurement.median = nanoseconds(median_ns);
  return measurement;
}

template <class Value>
Replayed apply(State& state, RecordType type, const Value& value) {
  return state.apply(static_cast<std::uint8_t>(type), kRecordVersion, encode(value));
}
Suspect suspect_of(const Trial& trial) {
  Suspect suspect;
  suspect.trial = trial;
  suspect.key = trial.plain_key();
  suspect.deaths = 1;
  suspect.session = 1;
  suspect.at = {{suspect.key.shape, Where::helper}};
  return suspect;
}
void measure(State& state, const Measurement& measurement) {
  REQUIRE(apply(state, RecordType::measurement, measurement) == Replayed::understood);
}

std::vector<std::int64_t> medians(const State& state, const ShapeKey& key) {
  std::vector<std::int64_t> result;
  state.for_each_measurement(key,
                             [&](const Measurement& m) { result.push_back(m.median.count()); });
  std::sort(result.begin(), result.end());
  return result;
}

State replay_of(const State& state, const StateLimits& limits = StateLimits()) {
  State copy(limits);
  state.for_each_live_record([&](std::uint8_t type, std::uint8_t version, Bytes payload) {
    (void)copy.apply(type, version, payload);
  });
  return copy;
}

TEST_CASE("measurements are found by their shape, other shapes and drivers apart") {
  State state;
  measure(state, measurement_of(trial_of(3, 10, 1), 100));
  measure(state, measurement_of(trial_of(3, 10, 2), 200));
  measure(state, measurement_of(trial_of(3, 11, 1), 300));
  measure(state, measurement_of(trial_of(4, 10, 1), 400));
  const ShapeKey key = trial_of(3, 10, 0).shape_key();
  CHECK(medians(state, key) == std::vector<std::int64_t>{100, 200});
  CHECK(state.measurement_count(key) == 2);
  CHECK(state.measurement_count() == 4);
  CHECK(state.measurement_count(trial_of(3, 12, 0).shape_key()) == 0);
  std::vector<std::int64_t> shapes;
  state.for_each_shape_of(trial_of(3, 0, 1).key(),
                          [&](const Measurement& m) { shapes.push_back(m.median.count()); });
  std::sort(shapes.begin(), shapes.end());
  CHECK(shapes == std::vector<std::int64_t>{100, 300});
}

TEST_CASE("measuring again replaces") {
  State state;
  const Trial trial = trial_of(3, 10, 1);
  measure(state, measurement_of(trial, 100));
  measure(state, measurement_of(trial, 50));
  CHECK(state.measurement_count() == 1);
  CHECK(state.measurement(trial.key())->median == nanoseconds(50));
}

TEST_CASE("a quarantine holds at every shape, and under another driver it is a suspicion") {
  State state;
  const Trial trial = trial_of(3, 10, 1);
  apply(state, RecordType::quarantine, Quarantine{trial, trial.key(), QuarantineReason::crash, ""});
  CHECK(state.dangers().is_quarantined(trial_of(3, 10, 1).key()));
  CHECK(state.dangers().is_quarantined(trial_of(3, 99, 1).key()));
  CHECK_FALSE(state.dangers().is_quarantined(trial_of(3, 10, 2).key()));
  CHECK_FALSE(state.dangers().is_quarantined(trial_of(4, 10, 1)));
  CHECK_FALSE(state.dangers().is_suspect(trial));
  CHECK(state.dangers().is_suspect(trial_of(4, 10, 1)));
  CHECK(state.dangers().suspect(trial_of(4, 10, 1))->cause == SuspicionCause::other_driver);
  CHECK_FALSE(state.dangers().is_suspect(trial_of(4, 10, 2)));
  std::size_t suspects = 0;
  state.dangers().for_each_suspect_of(trial_of(4, 99, 9), [&](const Suspect& suspect) {
    ++suspects;
    CHECK(suspect.trial.configuration == trial.configuration);
    CHECK(suspect.trial.driver == 4);
  });
  CHECK(suspects == 1);
  // An outcome under the new driver, at whatever shape, says nothing of the old one.
  apply(state, RecordType::closed, Ended{trial_of(4, 99, 1).key(), true, Where::helper});
  CHECK_FALSE(state.dangers().is_suspect(trial_of(4, 10, 1)));
  CHECK(state.dangers().is_quarantined(trial));
  CHECK(state.dangers().is_suspect(trial_of(5, 10, 1)));
  CHECK_FALSE(replay_of(state).dangers().is_suspect(trial_of(4, 10, 1)));
  REQUIRE(state.dangers().quarantine(trial.key()));
  CHECK(state.dangers().quarantine(trial.key())->reason == QuarantineReason::crash);
}

TEST_CASE(
    "a trial is open from its intent to its close, quarantine, suspicion, session or shutdown") {
  const Trial trial = trial_of(3, 10, 1);
  const auto opened = [&] {
    State state;
    apply(state, RecordType::intent, Intent{trial, IntentStage::compile, true});
    apply(state, RecordType::intent, Intent{trial, IntentStage::run, true});
    REQUIRE(state.dangers().open_trials().size() == 1);
    CHECK(state.dangers().open_trial(trial.key())->stage == IntentStage::run);
    return state;
  };
  State closed = opened();
  apply(closed, RecordType::closed, Ended{trial.key()});
  CHECK(closed.dangers().open_trials().empty());
  State parked = opened();
  apply(parked, RecordType::parked, Ended{trial.key()});
  CHECK(parked.dangers().open_trials().empty());
  State quarantined = opened();
  apply(quarantined, RecordType::quarantine,
        Quarantine{trial, trial.key(), QuarantineReason::crash, ""});
  CHECK(quarantined.dangers().open_trials().empty());
  State suspect = opened();
  apply(suspect, RecordType::suspect, suspect_of(trial));
  CHECK(suspect.dangers().open_trials().empty());
  State session = opened();
  apply(session, RecordType::session, Session{1, 2});
  CHECK(session.dangers().open_trials().empty());
  State shut_down = opened();
  CHECK(shut_down.apply(static_cast<std::uint8_t>(RecordType::clean_shutdown), 1, Bytes()) ==
        Replayed::understood);
  CHECK(shut_down.dangers().open_trials().empty());
  CHECK(shut_down.ended_cleanly());
}

TEST_CASE("closing clears suspicion, parking does not") {
  State state;
  const Trial trial = trial_of(3, 10, 1);
  apply(state, RecordType::suspect, suspect_of(trial));
  CHECK(state.dangers().is_suspect(trial.key()));
  apply(state, RecordType::parked, Ended{trial.key(), true, Where::helper});
  CHECK(state.dangers().is_suspect(trial.key()));
  apply(state, RecordType::closed, Ended{trial.key(), true, Where::helper});
  CHECK_FALSE(state.dangers().is_suspect(trial.key()));
}

TEST_CASE("an adoption holds until it is demoted, replaced or its configuration quarantined") {
  State state;
  const Trial first = trial_of(3, 10, 1);
  const Trial second = trial_of(3, 10, 2);
  apply(state, RecordType::adoption, Adoption{first, nanoseconds(9), nanoseconds(20), 2});
  CHECK(state.adoption(first.shape_key())->trial.configuration == first.configuration);
  apply(state, RecordType::adoption, Adoption{second, nanoseconds(8), nanoseconds(20), 2});
  CHECK(state.adoption(first.shape_key())->trial.configuration == second.configuration);
  CHECK(state.adoption_count() == 1);
  State demoted = replay_of(state);
  Demotion demotion;
  demotion.key = first.shape_key();
  apply(demoted, RecordType::demotion, demotion);  // as older versions wrote it
  CHECK_FALSE(demoted.adoption(first.shape_key()));
  CHECK_FALSE(losses_of(demoted, second));
  demotion.configuration = second.configuration;
  demotion.losses = 2;
  apply(demoted, RecordType::demotion, demotion);
  apply(demoted, RecordType::adoption, Adoption{first, nanoseconds(9), nanoseconds(20), 2});
  const State again = replay_of(demoted);
  CHECK(again.digest() == demoted.digest());
  CHECK(again.adoption(first.shape_key())->trial.configuration == first.configuration);
  CHECK(losses_of(again, second) == 2);
  CHECK_FALSE(losses_of(again, first));
  std::size_t demotions = 0;
  again.for_each_demotion(first.shape_key(), [&](const Demotion&) { ++demotions; });
  CHECK(demotions == 1);
  apply(state, RecordType::quarantine,
        Quarantine{second, second.key(), QuarantineReason::hang, ""});
  CHECK_FALSE(state.adoption(first.shape_key()));
}

TEST_CASE("what one object of a kernel takes back is not what another one adopted since") {
  State state;
  const Trial first = trial_of(3, 64, 1), second = trial_of(3, 64, 2);
  Adoption adoption;
  adoption.trial = second;
  apply(state, RecordType::adoption, adoption);
  Demotion demotion;
  demotion.key = first.shape_key();
  demotion.configuration = first.configuration;
  apply(state, RecordType::demotion, demotion);
  REQUIRE(state.adoption(first.shape_key()));
  CHECK(state.adoption(first.shape_key())->trial.configuration == second.configuration);
}

TEST_CASE("another driver's newest adoption is a hint and never an adoption") {
  State state;
  apply(state, RecordType::adoption,
        Adoption{trial_of(5, 10, 1), nanoseconds(9), nanoseconds(0), 2});
  apply(state, RecordType::adoption,
        Adoption{trial_of(4, 10, 2), nanoseconds(9), nanoseconds(0), 2});
  const ShapeKey key = trial_of(3, 10, 0).shape_key();
  CHECK_FALSE(state.adoption(key));
  REQUIRE(state.stale_adoption(key));
  CHECK(state.stale_adoption(key)->trial.driver == 4);
  CHECK_FALSE(state.stale_adoption(trial_of(3, 11, 0).shape_key()));
}

TEST_CASE("of a shape with too many measurements the fastest half and the newest stay") {
  StateLimits limits;
  limits.measurements_per_shape = 16;
  State state(limits);
  // 19 measurements: the limit is passed by an eighth, and three must go. Fast ones are old.
  for (std::int64_t i = 0; i < 19; ++i) {
    measure(state, measurement_of(trial_of(3, 10, i), i < 8 ? 10 + i : 1000 - i));
  }
  const std::vector<std::int64_t> kept = medians(state, trial_of(3, 10, 0).shape_key());
  REQUIRE(kept.size() == 16);
  for (std::int64_t i = 0; i < 8; ++i) CHECK(kept[static_cast<std::size_t>(i)] == 10 + i);
  CHECK(kept.back() == 1000 - 11);  // configurations 8, 9 and 10 were the oldest of the slow ones
}

TEST_CASE("failures are forgotten before fast configurations") {
  StateLimits limits;
  limits.measurements_per_shape = 16;
  State state(limits);
  for (std::int64_t i = 0; i < 200; ++i) {
    Measurement measurement = measurement_of(trial_of(3, 10, i), i == 0 ? 1 : 0);
    if (i != 0) measurement.status = TrialStatus::compile;
    measure(state, measurement);
  }
  CHECK(state.measurement(trial_of(3, 10, 0).key()));
  CHECK(state.measurement(trial_of(3, 10, 199).key()));
  CHECK(state.measurement_count() <= 18);
}

TEST_CASE("memory is bounded whatever is recorded") {
  const StateLimits limits = StateLimits::of_file(64u << 10, 4096);
  State state(limits);
  Random random(1);
  std::uint64_t most = 0;
  for (int i = 0; i < 20000; ++i) {
    const Trial trial = trial_of(random.below(3), static_cast<std::int64_t>(random.below(100)),
                                 static_cast<std::int64_t>(random.next() >> 1));
    switch (random.below(6)) {
      case 0:
        apply(state, RecordType::quarantine,
              Quarantine{trial, trial.key(), QuarantineReason::crash, "x"});
        break;
      case 1: apply(state, RecordType::suspect, suspect_of(trial)); break;
      case 2:
        apply(state, RecordType::adoption, Adoption{trial, nanoseconds(1), nanoseconds(2), 1});
        break;
      case 3:
        apply(state, RecordType::shape_statistics,
              ShapeStatistics{random.next(), trial.shape, random.below(1000), 1, 1});
        break;
      case 4:
        (void)state.apply(static_cast<std::uint8_t>(100 + random.below(50)), 1,
                          encode(Ended{trial.key()}));
        break;
      default:
        measure(state, measurement_of(trial, static_cast<std::int64_t>(random.below(1000))));
        break;
    }
    apply(state, RecordType::name, Name{NameKind::kernel, random.below(100), "kernel"});
    apply(state, RecordType::intent, Intent{trial, IntentStage::run, true});
    most = std::max(most, state.live_bytes());
  }
  CHECK(state.dangers().open_trials().size() == limits.dangers.open_trials);
  CHECK(most < (64u << 10) + 64 * 512);
  CHECK(state.dangers().quarantine_count() > 20);
  CHECK(state.measurement_count() > 100);
}

TEST_CASE("the least launched shapes are forgotten first") {
  StateLimits limits;
  limits.statistics_bytes = 1024;
  State state(limits);
  for (std::int64_t i = 0; i < 500; ++i) {
    apply(state, RecordType::shape_statistics,
          ShapeStatistics{1, Shape{i}, static_cast<std::uint64_t>(i == 3 ? 1000000 : i), 1, 1});
  }
  CHECK(state.shape_statistics(1, Shape{3}));
  CHECK_FALSE(state.shape_statistics(1, Shape{4}));
  CHECK(state.shape_statistics(1, Shape{499}));
  CHECK_FALSE(state.shape_statistics(1, Shape{440}));
}

TEST_CASE("the live records make the same state again") {
  State state;
  apply(state, RecordType::session, Session{8, 3});
  for (std::int64_t i = 30; i > 0; --i) {
    const Trial trial = trial_of(3, i % 4, i);
    measure(state, measurement_of(trial, 1000 - i));
    if (i % 3 == 0)
      apply(state, RecordType::adoption, Adoption{trial, nanoseconds(i), nanoseconds(0), 2});
    if (i % 5 == 0)
      apply(state, RecordType::quarantine,
            Quarantine{trial, trial.key(), QuarantineReason::user, "x"});
    if (i % 7 == 0) apply(state, RecordType::suspect, suspect_of(trial));
    if (i % 9 == 0) apply(state, RecordType::intent, Intent{trial, IntentStage::run, true});
  }
  apply(state, RecordType::name, Name{NameKind::driver, 8, "PoCL 3.1"});
  apply(state, RecordType::ledger, Ledger{nanoseconds(1), nanoseconds(2), nanoseconds(3)});
  (void)state.apply(99, 7, encode(Ended{trial_of(1, 1, 1).key()}));
  const State copy = replay_of(state);
  CHECK(copy.digest() == state.digest());
  // What died at one shape and was under way at another one.
  apply(state, RecordType::exposure, Exposure{trial_of(3, 8, 77), Where::here, 3});
  apply(state, RecordType::suspect, suspect_of(trial_of(3, 9, 77)));
  CHECK(replay_of(state).digest() == state.digest());
  State other = replay_of(state);
  apply(other, RecordType::ledger, Ledger{nanoseconds(1), nanoseconds(2), nanoseconds(4)});
  CHECK(other.digest() != state.digest());
}

TEST_CASE("a malformed record changes nothing") {
  State state;
  apply(state, RecordType::session, Session{8, 3});
  const std::uint64_t before = state.digest();
  for (std::uint8_t type = 1; type < kRecordTypeLimit; ++type) {
    if (type == static_cast<std::uint8_t>(RecordType::clean_shutdown)) continue;
    CHECK(state.apply(type, kRecordVersion, Bytes()) == Replayed::malformed);
  }
  CHECK(state.digest() == before);
}

}  // namespace
}  // namespace idletune::journal
