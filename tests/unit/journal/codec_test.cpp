#include <doctest/doctest.h>

#include <string>

#include "agent/journal/codec.hpp"
#include "tests/unit/journal/sample_values.hpp"

namespace idletune::journal {
namespace {

using namespace test;

bool same(const Trial& a, const Trial& b) {
  return a.kernel == b.kernel && a.device == b.device && a.driver == b.driver &&
         a.shape == b.shape && a.configuration == b.configuration && a.data == b.data;
}

TEST_CASE("sessions, intents and keys come back as they were") {
  Session session;
  REQUIRE(decode(encode(Session{5, 300}), session));
  CHECK(session.boot == 5);
  CHECK(session.number == 300);

  Intent intent;
  REQUIRE(decode(encode(sample_intent()), intent));
  CHECK(same(intent.trial, sample_trial()));
  CHECK(intent.stage == IntentStage::run);
  CHECK_FALSE(intent.isolated);

  Exposure exposure;
  REQUIRE(decode(encode(sample_exposure()), exposure));
  CHECK(same(exposure.trial, sample_trial()));
  CHECK(exposure.place == Where::launches);
  CHECK(exposure.session == 300);

  Ended ended;
  REQUIRE(decode(encode(sample_end()), ended));
  CHECK(ended.key == sample_trial().key());
  CHECK(ended.told);
  CHECK(ended.place == Where::launches);
  Demotion demotion;
  REQUIRE(decode(encode(sample_demotion()), demotion));
  CHECK(demotion.key == sample_trial().shape_key());
  CHECK(demotion.configuration == sample_trial().configuration);
  CHECK(demotion.why == DemotionReason::slower_in_launches);
  CHECK(demotion.ratio_millionths == 1250000);
  CHECK(demotion.losses == 3);
  CHECK(demotion.launches == UINT64_MAX);
}

TEST_CASE("the features of a problem come back bit by bit") {
  Intent intent = sample_intent();
  intent.trial.shape = Problem({512, 7}, {12.1, 1e-300, 0, 1e300});
  Intent read;
  REQUIRE(decode(encode(intent), read));
  CHECK(same(read.trial, intent.trial));
  ShapeStatistics statistics;
  statistics.shape = intent.trial.shape;
  ShapeStatistics statistics_read;
  REQUIRE(decode(encode(statistics), statistics_read));
  CHECK(statistics_read.shape == intent.trial.shape);
  Payload bytes = encode(intent);
  bytes[24] = 0x92;  // nine features
  CHECK_FALSE(decode(bytes, read));
}

TEST_CASE("quarantines and suspects come back as they were") {
  Quarantine quarantine;
  REQUIRE(decode(encode(sample_quarantine()), quarantine));
  CHECK(same(quarantine.trial, sample_trial()));
  CHECK(quarantine.key == sample_trial().key());
  CHECK(quarantine.reason == QuarantineReason::hang);
  CHECK(quarantine.detail == "outlived 250 ms");

  Suspect suspect;
  REQUIRE(decode(encode(sample_suspect()), suspect));
  CHECK(same(suspect.trial, sample_trial()));
  CHECK(suspect.key == sample_trial().key());
  CHECK(suspect.deaths == 1);
  CHECK(suspect.session == 300);
  CHECK(suspect.cause == SuspicionCause::hang);
  CHECK(suspect.retried);
  CHECK(suspect.survived);
  REQUIRE(suspect.at.size() == 2);
  CHECK(suspect.at[0].shape == suspect.key.shape);
  CHECK(suspect.at[1].place == Where::launches);
  CHECK(suspect.detail == "outlived 250 ms");

  Wrong wrong;
  REQUIRE(decode(encode(sample_wrong()), wrong));
  CHECK(same(wrong.trial, sample_trial()));
  CHECK(wrong.class_key == sample_wrong().class_key);
}

// Those who do not know of lent data find another driver there.
TEST_CASE("lent data are another driver in the bytes, and come back apart") {
  Trial trial = sample_trial();
  trial.data = 0x5555555555555555ull;
  Intent intent{trial, IntentStage::run, true};
  const Payload payload = encode(intent);
  CHECK(get(payload.data() + 16, 8) == (trial.driver ^ trial.data));
  REQUIRE(decode(payload, intent));
  CHECK(same(intent.trial, trial));
  CHECK(intent.trial.key().driver == (trial.driver ^ trial.data));
  CHECK(intent.trial.plain_key().driver == trial.driver);
  Exposure exposure{trial, Where::here, 1};
  REQUIRE(decode(encode(exposure), exposure));
  CHECK(same(exposure.trial, trial));
  Wrong wrong{trial, 1};
  REQUIRE(decode(encode(wrong), wrong));
  CHECK(same(wrong.trial, trial));
  Measurement measurement = sample_measurement();
  measurement.trial = trial;
  REQUIRE(decode(encode(measurement), measurement));
  CHECK(same(measurement.trial, trial));
  CHECK(measurement.origin == Origin::unknown);
  CHECK(measurement.default_time.count() == 0);
  Adoption adoption = sample_adoption();
  adoption.trial = trial;
  REQUIRE(decode(encode(adoption), adoption));
  CHECK(same(adoption.trial, trial));
  Ended ended{trial.key(), true, Where::here, trial.data};
  REQUIRE(decode(encode(ended), ended));
  CHECK(ended.data == trial.data);
}

TEST_CASE("what older versions wrote of ends and suspects is read as they meant it") {
  Payload payload = encode(sample_end());
  payload.resize(40);
  Ended ended;
  REQUIRE(decode(payload, ended));
  CHECK_FALSE(ended.told);
  payload = encode(sample_suspect());
  Suspect without = sample_suspect();
  without.at.clear();
  without.detail.clear();
  payload.resize(encode(without).size() - 6);  // session, cause, flags, places, detail
  Suspect suspect;
  REQUIRE(decode(payload, suspect));
  CHECK(suspect.deaths == 1);
  CHECK(suspect.session == 0);
  CHECK(suspect.cause == SuspicionCause::unknown);
  REQUIRE(suspect.at.size() == 1);
  CHECK(suspect.at[0].shape == sample_trial().key().shape);
  CHECK(suspect.at[0].place == Where::helper);
  CHECK(suspect.detail.empty());
}

TEST_CASE("measurements, adoptions, ledger and statistics come back as they were") {
  Measurement measurement;
  REQUIRE(decode(encode(sample_measurement()), measurement));
  CHECK(same(measurement.trial, sample_trial()));
  CHECK(measurement.status == TrialStatus::correct);
  CHECK(measurement.median == sample_measurement().median);
  CHECK(measurement.minimum == sample_measurement().minimum);
  CHECK(measurement.samples == 7);
  CHECK(measurement.compile == sample_measurement().compile);
  CHECK(measurement.checked_seeds == 2);
  CHECK(measurement.unix_seconds == 1750000000);

  Adoption adoption;
  REQUIRE(decode(encode(sample_adoption()), adoption));
  CHECK(same(adoption.trial, sample_trial()));
  CHECK(adoption.expected == sample_adoption().expected);
  CHECK(adoption.default_time == sample_adoption().default_time);
  CHECK(adoption.checked_seeds == 2);

  Ledger ledger;
  REQUIRE(decode(encode(sample_ledger()), ledger));
  CHECK(ledger == sample_ledger());

  ShapeStatistics statistics;
  REQUIRE(decode(encode(sample_statistics()), statistics));
  CHECK(statistics.kernel == sample_statistics().kernel);
  CHECK(statistics.shape == sample_statistics().shape);
  CHECK(statistics.launches == UINT64_MAX);
  CHECK(statistics.active_seconds == 86400);
  CHECK(statistics.sessions == 12);
}

TEST_CASE(
    "forecasts were appended to the ledger: without them there were none, and none holds twice") {
  Ledger ledger = sample_ledger();
  ledger.forecasts = ledger.held = 100;
  Payload payload = encode(ledger);
  Ledger out;
  REQUIRE(decode(payload, out));
  CHECK(out == ledger);
  payload.resize(payload.size() - 2);
  REQUIRE(decode(payload, out = Ledger()));
  CHECK(out == sample_ledger());
  ledger.held = 101;
  CHECK_FALSE(decode(encode(ledger), out));
}

TEST_CASE("the origin was appended: without it, or of a later version, it reads as unknown") {
  const Payload old = encode(sample_measurement());
  Measurement measurement = sample_measurement();
  measurement.origin = Origin::learned;
  Payload payload = encode(measurement);
  REQUIRE(payload.size() == old.size() + 1);
  CHECK(Payload(payload.begin(), payload.end() - 1) == old);
  Measurement out;
  REQUIRE(decode(payload, out));
  CHECK(out.origin == Origin::learned);
  REQUIRE(decode(old, out));
  CHECK(out.origin == Origin::unknown);
  payload.back() = kOriginCount;
  REQUIRE(decode(payload, out));
  CHECK(out.origin == Origin::unknown);
}

TEST_CASE("the setup was appended after the origin, and a measurement without one is as before") {
  Measurement measurement = sample_measurement();
  measurement.origin = Origin::learned;
  const Payload before = encode(measurement);
  measurement.setup = std::chrono::nanoseconds(123456);
  Payload payload = encode(measurement);
  REQUIRE(payload.size() > before.size());
  CHECK(Payload(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(before.size())) ==
        before);
  Measurement out;
  REQUIRE(decode(payload, out));
  CHECK(out.setup == measurement.setup);
  CHECK(out.origin == Origin::learned);
  REQUIRE(decode(before, out));
  CHECK(out.setup.count() == 0);
  measurement.origin = Origin::unknown;
  REQUIRE(decode(encode(measurement), out));
  CHECK(out.setup == measurement.setup);
  CHECK(out.origin == Origin::unknown);
}

TEST_CASE("the default's time beside it and the place were appended after the setup") {
  Measurement measurement = sample_measurement();
  measurement.setup = std::chrono::nanoseconds(5);
  const Payload before = encode(measurement);
  measurement.default_time = std::chrono::microseconds(300);
  measurement.place = Where::launches;
  const Payload payload = encode(measurement);
  CHECK(Payload(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(before.size())) ==
        before);
  Measurement out;
  REQUIRE(decode(payload, out));
  CHECK(out.default_time == measurement.default_time);
  CHECK(out.place == Where::launches);
  REQUIRE(decode(before, out));
  CHECK(out.default_time.count() == 0);
  CHECK(out.place == Where::helper);
}

TEST_CASE("a name comes back as it was, and one that is too long is refused") {
  const Name name{NameKind::kernel, 0x1122334455667788ull, "gemm\n12345\nM N K\nMWG NWG"};
  Name out;
  REQUIRE(decode(encode(name), out));
  CHECK(out.kind == NameKind::kernel);
  CHECK(out.digest == name.digest);
  CHECK(out.text == name.text);
  Payload payload = encode(Name{NameKind::device, 1, std::string(kMaxNameBytes, 'x')});
  REQUIRE(decode(payload, out));
  CHECK(payload.size() <= kMaxPayloadBytes);
  ++payload[9];  // the length, least significant bits first
  payload.push_back('x');
  CHECK_FALSE(decode(payload, out));
}

// Cut short nothing decodes, unless at an older version's end; longer, with fields of a later
// version, everything does.
template <class Value>
void check_lengths(const Value& value, std::size_t older_size = SIZE_MAX) {
  const Payload payload = encode(value);
  Value out;
  for (std::size_t size = 0; size < payload.size(); ++size) {
    CAPTURE(size);
    CHECK(decode(Bytes(payload.data(), size), out) == (size == older_size));
  }
  Payload longer = payload;
  longer.push_back(0xff);
  CHECK(decode(longer, out));
  CHECK(encode(out) == payload);
}

TEST_CASE("a payload that is too short is refused, later fields are ignored") {
  check_lengths(Session{5, 300});
  check_lengths(sample_intent());
  check_lengths(sample_end(), 40);
  check_lengths(sample_exposure());
  check_lengths(sample_wrong());
  check_lengths(sample_demotion(), 32);
  check_lengths(sample_quarantine());
  Suspect older = sample_suspect();
  older.at.clear();
  older.detail.clear();
  check_lengths(sample_suspect(), encode(older).size() - 6);
  check_lengths(sample_measurement());
  check_lengths(sample_adoption());
  check_lengths(sample_ledger(), encode(sample_ledger()).size() - 2);
  check_lengths(sample_statistics());
  check_lengths(Name{NameKind::driver, 7, "PoCL 3.1"});
}

TEST_CASE("impossible contents are refused") {
  Measurement negative = sample_measurement();
  negative.median = std::chrono::nanoseconds(-1);
  CHECK_FALSE(decode(encode(negative), negative));

  Payload status = encode(sample_measurement());
  const std::size_t status_at = encode(sample_intent()).size() - 2;  // after the same trial
  REQUIRE(status[status_at] == 0);
  status[status_at] = kTrialStatusCount;
  Measurement measurement;
  CHECK_FALSE(decode(status, measurement));

  Payload stage = encode(sample_intent());
  stage[stage.size() - 2] = 2;
  Intent intent;
  CHECK_FALSE(decode(stage, intent));
  Payload isolated = encode(sample_intent());
  isolated.back() = 2;
  CHECK_FALSE(decode(isolated, intent));

  Payload place = encode(sample_end());
  place.back() = kWhereCount;
  Ended ended;
  CHECK_FALSE(decode(place, ended));

  Payload dimensions(24, 0);  // three digests
  dimensions.push_back(kMaxDimensions + 1);
  dimensions.resize(100, 0);
  CHECK_FALSE(decode(dimensions, intent));
  Payload parameters(24, 0);
  parameters.push_back(0);
  parameters.push_back(kMaxParameters + 1);
  parameters.resize(100, 0);
  CHECK_FALSE(decode(parameters, intent));
}

TEST_CASE("a number of more than 64 bits is refused") {
  Payload payload(8, 0);
  payload.insert(payload.end(), 9, 0xff);
  Session session;
  Payload most = payload;
  most.push_back(0x01);
  CHECK(decode(most, session));
  CHECK(session.number == UINT64_MAX);
  Payload more = payload;
  more.push_back(0x02);
  CHECK_FALSE(decode(more, session));
  Payload endless = payload;
  endless.insert(endless.end(), 10, 0x80);
  CHECK_FALSE(decode(endless, session));
}

TEST_CASE("a long detail is cut on writing and a claimed longer one is refused") {
  Quarantine quarantine = sample_quarantine();
  quarantine.detail = std::string(1000, 'x');
  Quarantine out;
  REQUIRE(decode(encode(quarantine), out));
  CHECK(out.detail == std::string(kMaxDetailBytes, 'x'));
}

TEST_CASE("a quarantine for a reason of a later version still holds") {
  Quarantine quarantine = sample_quarantine();
  quarantine.reason = static_cast<QuarantineReason>(99);
  Quarantine out;
  REQUIRE(decode(encode(quarantine), out));
  CHECK(std::string(quarantine_reason_name(out.reason)) == "unknown");
}

TEST_CASE("the largest possible payload fits a record") {
  Quarantine quarantine = sample_quarantine();
  quarantine.detail = std::string(1000, 'x');
  quarantine.trial.shape = Shape();
  quarantine.trial.configuration = Configuration();
  for (std::size_t i = 0; i < kMaxDimensions; ++i) quarantine.trial.shape.push_back(INT64_MIN);
  for (std::size_t i = 0; i < kMaxParameters; ++i)
    quarantine.trial.configuration.push_back(INT64_MIN);
  CHECK(encode(quarantine).size() <= kMaxPayloadBytes);
  Suspect suspect = sample_suspect();
  suspect.trial = quarantine.trial;
  suspect.detail = quarantine.detail;
  suspect.at.resize(1000);
  REQUIRE(encode(suspect).size() <= kMaxPayloadBytes);
  REQUIRE(decode(encode(suspect), suspect));
  CHECK(suspect.at.size() == kMaxDeathPlaces);
}

}  // namespace
}  // namespace idletune::journal
