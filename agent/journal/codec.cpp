#include "agent/journal/codec.hpp"

#include "agent/journal/fields.hpp"
#include "models/core/lists.hpp"

namespace idletune::journal {
namespace {

using std::chrono::nanoseconds;

void each_field(Fields& fields, Session& session) {
  fields.word(session.boot).number(session.number);
}

void each_field(Fields& fields, Intent& intent) {
  fields.trial(intent.trial).byte(intent.stage, 2).byte(intent.isolated, 2).data_of(intent.trial);
}

void each_field(Fields& fields, Ended& ended) {
  fields.key(ended.key);
  fields.set(ended.told, fields.more()).set(ended.place, Where::helper);
  if (ended.told) fields.byte(ended.place, kWhereCount).appended(ended.data);
}

void each_field(Fields& fields, Exposure& exposure) {
  fields.trial(exposure.trial).byte(exposure.place, kWhereCount).number(exposure.session);
  fields.data_of(exposure.trial);
}

void each_field(Fields& fields, Wrong& wrong) {
  fields.trial(wrong.trial).word(wrong.class_key).data_of(wrong.trial);
}

void each_field(Fields& fields, Demotion& demotion) {
  fields.key(demotion.key);
  if (!fields.more()) return;
  fields.configuration(demotion.configuration).known_byte(demotion.why, kDemotionReasonCount);
  fields.small_number(demotion.ratio_millionths).small_number(demotion.losses);
  fields.number(demotion.launches);
}

// Quarantines and suspects are found by digests; the values are for people and may be missing.
Fields& keyed_trial(Fields& fields, TrialKey& key, Trial& trial) {
  fields.key(key).set(trial.kernel, key.kernel).set(trial.device, key.device);
  return fields.set(trial.driver, key.driver).shape(trial.shape).configuration(trial.configuration);
}

// A reason of a later version still keeps the configuration out; it reads as `unknown`.
void each_field(Fields& fields, Quarantine& quarantine) {
  keyed_trial(fields, quarantine.key, quarantine.trial).byte(quarantine.reason);
  fields.text(quarantine.detail, kMaxDetailBytes).appended(quarantine.acquitted_by);
}

// Older versions told one shape, and only of trials.
void each_field(Fields& fields, Suspect& suspect) {
  if (fields.reads()) suspect.at.clear();
  keyed_trial(fields, suspect.key, suspect.trial).small_number(suspect.deaths);
  if (!fields.more()) return push(suspect.at, Suspect::Place{suspect.key.shape, Where::helper});
  fields.number(suspect.session).known_byte(suspect.cause, kSuspicionCauseCount);
  auto flags = static_cast<std::uint8_t>((suspect.retried ? 1 : 0) | (suspect.survived ? 2 : 0));
  auto places = static_cast<std::uint8_t>(suspect.at.size() < kMaxDeathPlaces ? suspect.at.size()
                                                                              : kMaxDeathPlaces);
  fields.byte(flags).byte(places, kMaxDeathPlaces + 1);
  fields.set(suspect.retried, (flags & 1) != 0).set(suspect.survived, (flags & 2) != 0);
  for (std::uint8_t i = 0; i < places; ++i) {
    if (fields.reads()) push(suspect.at, Suspect::Place());
    fields.word(suspect.at[i].shape).byte(suspect.at[i].place, kWhereCount);
  }
  fields.text(suspect.detail, kMaxDetailBytes);
}

// What was appended since version 1 was released, in the order of time: what is not known, or is
// none, takes no byte, unless something follows.
void each_field(Fields& fields, Measurement& measurement) {
  const bool with_data = measurement.trial.data != 0;
  const bool beside =
      measurement.default_time.count() > 0 || measurement.place != Where::helper || with_data;
  const bool with_setup = measurement.setup.count() > 0 || beside;
  fields.set(measurement.origin, Origin::unknown).set(measurement.place, Where::helper);
  fields.set(measurement.setup, nanoseconds(0)).set(measurement.default_time, nanoseconds(0));
  fields.trial(measurement.trial).byte(measurement.status, kTrialStatusCount);
  fields.time(measurement.median).time(measurement.minimum).small_number(measurement.samples);
  fields.time(measurement.compile).small_number(measurement.checked_seeds);
  fields.integer(measurement.unix_seconds);
  if (fields.more(measurement.origin != Origin::unknown || with_setup)) {
    fields.known_byte(measurement.origin, kOriginCount);
  }
  if (fields.more(with_setup)) fields.time(measurement.setup);
  if (fields.more(beside)) fields.time(measurement.default_time);
  if (fields.more(beside)) fields.byte(measurement.place, kWhereCount);
  fields.data_of(measurement.trial);
}

void each_field(Fields& fields, Adoption& adoption) {
  fields.trial(adoption.trial).time(adoption.expected).time(adoption.default_time);
  fields.small_number(adoption.checked_seeds).data_of(adoption.trial);
}

void each_field(Fields& fields, Ledger& ledger) {
  fields.time(ledger.charged).time(ledger.kernel_time);
  fields.difference(ledger.savings);  // a lower bound may be below zero
  if (!fields.more()) return;
  fields.number(ledger.forecasts).number(ledger.held);
  if (ledger.held > ledger.forecasts) fields.reject();
}

void each_field(Fields& fields, ShapeStatistics& statistics) {
  fields.word(statistics.kernel).shape(statistics.shape).number(statistics.launches);
  fields.number(statistics.active_seconds).small_number(statistics.sessions);
}

// Kinds of later versions are kept; nobody here asks for them.
void each_field(Fields& fields, Name& name) {
  fields.byte(name.kind).word(name.digest).text(name.text, kMaxNameBytes);
}

template <class Value>
void each_field_of(Fields& fields, void* value) {
  each_field(fields, *static_cast<Value*>(value));
}

void each_field(Fields& fields, RecordType type, void* value) {
  switch (type) {
    case RecordType::session: return each_field_of<Session>(fields, value);
    case RecordType::intent: return each_field_of<Intent>(fields, value);
    case RecordType::parked:
    case RecordType::closed: return each_field_of<Ended>(fields, value);
    case RecordType::quarantine: return each_field_of<Quarantine>(fields, value);
    case RecordType::suspect: return each_field_of<Suspect>(fields, value);
    case RecordType::measurement: return each_field_of<Measurement>(fields, value);
    case RecordType::adoption: return each_field_of<Adoption>(fields, value);
    case RecordType::demotion: return each_field_of<Demotion>(fields, value);
    case RecordType::ledger: return each_field_of<Ledger>(fields, value);
    case RecordType::shape_statistics: return each_field_of<ShapeStatistics>(fields, value);
    case RecordType::name: return each_field_of<Name>(fields, value);
    case RecordType::exposure: return each_field_of<Exposure>(fields, value);
    case RecordType::wrong: return each_field_of<Wrong>(fields, value);
    case RecordType::clean_shutdown:
    case RecordType::models: break;
  }
  fields.reject();
}

}  // namespace

Payload encode(RecordType type, const void* value) {
  Fields fields;
  each_field(fields, type, const_cast<void*>(value));
  return fields.take();
}

bool decode(RecordType type, Bytes payload, void* out) {
  Fields fields(payload);
  each_field(fields, type, out);
  return fields.ok();
}

}  // namespace idletune::journal
