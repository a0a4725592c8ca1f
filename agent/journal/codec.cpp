#include "agent/journal/codec.hpp"

#include "agent/journal/fields.hpp"
#include "models/core/lists.hpp"

namespace idletune::journal {
namespace {

using std::chrono::nanoseconds;

// Quarantines and suspects are found by digests; the values are for people and may be missing.
Trial keyed_trial(const TrialKey& key, Reader& reader) {
  Trial trial;
  trial.kernel = key.kernel;
  trial.device = key.device;
  trial.driver = key.driver;
  trial.shape = reader.shape();
  trial.configuration = reader.configuration();
  return trial;
}

Where place_from(Reader& reader) {
  const std::uint8_t place = reader.byte();
  if (place >= kWhereCount) reader.reject();
  return static_cast<Where>(place);
}

// What a suspect's record tells since `deaths` is not its last field.
void read_death(Reader& reader, Suspect& out) {
  constexpr std::uint8_t kRetried = 1;
  constexpr std::uint8_t kSurvived = 2;
  out.session = reader.number();
  const std::uint8_t cause = reader.byte();
  out.cause = static_cast<SuspicionCause>(cause < kSuspicionCauseCount ? cause : 0);
  const std::uint8_t flags = reader.byte();
  out.retried = (flags & kRetried) != 0;
  out.survived = (flags & kSurvived) != 0;
  const std::uint8_t places = reader.byte();
  if (places > kMaxDeathPlaces) reader.reject();
  for (std::uint8_t i = 0; reader.ok() && i < places; ++i) {
    Suspect::Place place;
    place.shape = reader.word();
    place.place = place_from(reader);
    push(out.at, place);
  }
  out.detail = reader.text(kMaxDetailBytes);
}

}  // namespace

Payload encode(const Session& session) {
  return Writer().word(session.boot).number(session.number).take();
}

Payload encode(const Intent& intent) {
  return Writer()
      .trial(intent.trial)
      .byte(static_cast<std::uint8_t>(intent.stage))
      .byte(intent.isolated ? 1 : 0)
      .data(intent.trial.data)
      .take();
}

Payload encode(const Ended& ended) {
  Writer writer;
  writer.key(ended.key);
  if (ended.told) writer.byte(static_cast<std::uint8_t>(ended.place)).data(ended.data);
  return writer.take();
}

Payload encode(const Exposure& exposure) {
  return Writer()
      .trial(exposure.trial)
      .byte(static_cast<std::uint8_t>(exposure.place))
      .number(exposure.session)
      .data(exposure.trial.data)
      .take();
}

Payload encode(const Wrong& wrong) {
  return Writer().trial(wrong.trial).word(wrong.class_key).data(wrong.trial.data).take();
}

Payload encode(const Demotion& demotion) {
  return Writer()
      .key(demotion.key)
      .list(demotion.configuration.values())
      .byte(static_cast<std::uint8_t>(demotion.why))
      .number(demotion.ratio_millionths)
      .number(demotion.losses)
      .number(demotion.launches)
      .take();
}

Payload encode(const Quarantine& quarantine) {
  return Writer()
      .key(quarantine.key)
      .shape(quarantine.trial.shape)
      .list(quarantine.trial.configuration.values())
      .byte(static_cast<std::uint8_t>(quarantine.reason))
      .text(quarantine.detail, kMaxDetailBytes)
      .data(quarantine.acquitted_by)
      .take();
}

Payload encode(const Suspect& suspect) {
  const std::size_t places =
      suspect.at.size() < kMaxDeathPlaces ? suspect.at.size() : kMaxDeathPlaces;
  Writer writer;
  writer.key(suspect.key)
      .shape(suspect.trial.shape)
      .list(suspect.trial.configuration.values())
      .number(suspect.deaths)
      .number(suspect.session)
      .byte(static_cast<std::uint8_t>(suspect.cause))
      .byte(static_cast<std::uint8_t>((suspect.retried ? 1 : 0) | (suspect.survived ? 2 : 0)))
      .byte(static_cast<std::uint8_t>(places));
  for (std::size_t i = 0; i < places; ++i) {
    writer.word(suspect.at[i].shape).byte(static_cast<std::uint8_t>(suspect.at[i].place));
  }
  return writer.text(suspect.detail, kMaxDetailBytes).take();
}

// What was appended since version 1 was released, in the order of time: what is not known, or is
// none, takes no byte, unless something follows.
Payload encode(const Measurement& measurement) {
  Writer writer;
  writer.trial(measurement.trial)
      .byte(static_cast<std::uint8_t>(measurement.status))
      .time(measurement.median)
      .time(measurement.minimum)
      .number(measurement.samples)
      .time(measurement.compile)
      .number(measurement.checked_seeds)
      .integer(measurement.unix_seconds);
  const auto origin = static_cast<std::uint8_t>(measurement.origin);
  const auto place = static_cast<std::uint8_t>(measurement.place);
  const bool with_data = measurement.trial.data != 0;
  const bool beside = measurement.default_time.count() > 0 || place != 0 || with_data;
  const bool with_setup = measurement.setup.count() > 0 || beside;
  if (origin != 0 || with_setup) writer.byte(origin);
  if (with_setup) writer.time(measurement.setup);
  if (beside) writer.time(measurement.default_time).byte(place);
  return writer.data(measurement.trial.data).take();
}

Payload encode(const Adoption& adoption) {
  return Writer()
      .trial(adoption.trial)
      .time(adoption.expected)
      .time(adoption.default_time)
      .number(adoption.checked_seeds)
      .data(adoption.trial.data)
      .take();
}

Payload encode(const Ledger& ledger) {
  return Writer()
      .time(ledger.charged)
      .time(ledger.kernel_time)
      .time(ledger.savings)
      .number(ledger.forecasts)
      .number(ledger.held)
      .take();
}

Payload encode(const ShapeStatistics& statistics) {
  return Writer()
      .word(statistics.kernel)
      .shape(statistics.shape)
      .number(statistics.launches)
      .number(statistics.active_seconds)
      .number(statistics.sessions)
      .take();
}

Payload encode(const Name& name) {
  return Writer()
      .byte(static_cast<std::uint8_t>(name.kind))
      .word(name.digest)
      .text(name.text, kMaxNameBytes)
      .take();
}

bool decode(Bytes payload, Session& out) {
  Reader reader(payload);
  out.boot = reader.word();
  out.number = reader.number();
  return reader.ok();
}

bool decode(Bytes payload, Intent& out) {
  Reader reader(payload);
  out.trial = reader.trial();
  const std::uint8_t stage = reader.byte();
  if (stage > static_cast<std::uint8_t>(IntentStage::run)) reader.reject();
  out.stage = static_cast<IntentStage>(stage);
  const std::uint8_t isolated = reader.byte();
  if (isolated > 1) reader.reject();
  out.isolated = isolated == 1;
  reader.data_of(out.trial);
  return reader.ok();
}

bool decode(Bytes payload, Ended& out) {
  Reader reader(payload);
  out.key = reader.trial_key();
  out.told = !reader.at_end();
  out.place = out.told ? place_from(reader) : Where::helper;
  out.data = reader.appended_word();
  return reader.ok();
}

bool decode(Bytes payload, Exposure& out) {
  Reader reader(payload);
  out.trial = reader.trial();
  out.place = place_from(reader);
  out.session = reader.number();
  reader.data_of(out.trial);
  return reader.ok();
}

bool decode(Bytes payload, Wrong& out) {
  Reader reader(payload);
  out.trial = reader.trial();
  out.class_key = reader.word();
  reader.data_of(out.trial);
  return reader.ok();
}

bool decode(Bytes payload, Demotion& out) {
  Reader reader(payload);
  out = Demotion();
  out.key = reader.shape_key();
  if (!reader.ok() || reader.at_end()) return reader.ok();
  out.configuration = reader.configuration();
  const std::uint8_t why = reader.byte();
  out.why = static_cast<DemotionReason>(why < kDemotionReasonCount ? why : 0);
  out.ratio_millionths = reader.small_number();
  out.losses = reader.small_number();
  out.launches = reader.number();
  return reader.ok();
}

bool decode(Bytes payload, Quarantine& out) {
  Reader reader(payload);
  out.key = reader.trial_key();
  out.trial = keyed_trial(out.key, reader);
  // A reason of a later version still keeps the configuration out; it reads as `unknown`.
  out.reason = static_cast<QuarantineReason>(reader.byte());
  out.detail = reader.text(kMaxDetailBytes);
  out.acquitted_by = reader.appended_word();
  return reader.ok();
}

// Older versions told one shape, and only of trials.
bool decode(Bytes payload, Suspect& out) {
  Reader reader(payload);
  out = Suspect();
  out.key = reader.trial_key();
  out.trial = keyed_trial(out.key, reader);
  out.deaths = reader.small_number();
  if (!reader.ok()) return false;
  if (reader.at_end()) {
    push(out.at, Suspect::Place{out.key.shape, Where::helper});
  } else {
    read_death(reader, out);
  }
  return reader.ok();
}

bool decode(Bytes payload, Measurement& out) {
  Reader reader(payload);
  out.trial = reader.trial();
  const std::uint8_t status = reader.byte();
  if (status >= kTrialStatusCount) reader.reject();
  out.status = static_cast<TrialStatus>(status);
  out.median = reader.time();
  out.minimum = reader.time();
  out.samples = reader.small_number();
  out.compile = reader.time();
  out.checked_seeds = reader.small_number();
  out.unix_seconds = reader.integer();
  const std::uint8_t origin = reader.at_end() ? 0 : reader.byte();
  out.origin = static_cast<Origin>(origin < kOriginCount ? origin : 0);
  out.setup = reader.at_end() ? nanoseconds(0) : reader.time();
  out.default_time = reader.at_end() ? nanoseconds(0) : reader.time();
  out.place = reader.at_end() ? Where::helper : place_from(reader);
  reader.data_of(out.trial);
  return reader.ok();
}

bool decode(Bytes payload, Adoption& out) {
  Reader reader(payload);
  out.trial = reader.trial();
  out.expected = reader.time();
  out.default_time = reader.time();
  out.checked_seeds = reader.small_number();
  reader.data_of(out.trial);
  return reader.ok();
}

bool decode(Bytes payload, Ledger& out) {
  Reader reader(payload);
  out.charged = reader.time();
  out.kernel_time = reader.time();
  out.savings = nanoseconds(reader.integer());  // a lower bound may be below zero
  if (reader.at_end()) return reader.ok();
  out.forecasts = reader.number();
  out.held = reader.number();
  return reader.ok() && out.held <= out.forecasts;
}

bool decode(Bytes payload, ShapeStatistics& out) {
  Reader reader(payload);
  out.kernel = reader.word();
  out.shape = reader.shape();
  out.launches = reader.number();
  out.active_seconds = reader.number();
  out.sessions = reader.small_number();
  return reader.ok();
}

// Kinds of later versions are kept; nobody here asks for them.
bool decode(Bytes payload, Name& out) {
  Reader reader(payload);
  out.kind = static_cast<NameKind>(reader.byte());
  out.digest = reader.word();
  out.text = reader.text(kMaxNameBytes);
  return reader.ok();
}

}  // namespace idletune::journal
