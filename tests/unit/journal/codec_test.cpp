#include <doctest/doctest.h>

#include <string>

#include "agent/journal/codec.hpp"
#include "tests/unit/journal/sample_values.hpp"

namespace idletune::journal {
namespace {

using namespace test;

bool same(const Trial& a, const Trial& b) {
  return a.kernel == b.kernel && a.device == b.device && a.driver == b.driver &&
         a.shape == b.shape && a.configuration == b.configuration;
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

  TrialKey key;
  REQUIRE(decode(encode(sample_trial().key()), key));
  CHECK(key == sample_trial().key());
  ShapeKey shape_key;
  REQUIRE(decode(encode(sample_trial().shape_key()), shape_key));
  CHECK(shape_key == sample_trial().shape_key());
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

// Cut short nothing decodes; longer, with fields of a later version, everything does.
template <class Value>
void check_lengths(const Value& value) {
  const Payload payload = encode(value);
  Value out;
  for (std::size_t size = 0; size < payload.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(decode(Bytes(payload.data(), size), out));
  }
  Payload longer = payload;
  longer.push_back(0xff);
  CHECK(decode(longer, out));
  CHECK(encode(out) == payload);
}

TEST_CASE("a payload that is too short is refused, later fields are ignored") {
  check_lengths(Session{5, 300});
  check_lengths(sample_intent());
  check_lengths(sample_trial().key());
  check_lengths(sample_trial().shape_key());
  check_lengths(sample_quarantine());
  check_lengths(sample_suspect());
  check_lengths(sample_measurement());
  check_lengths(sample_adoption());
  check_lengths(sample_ledger());
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
}

}  // namespace
}  // namespace idletune::journal
