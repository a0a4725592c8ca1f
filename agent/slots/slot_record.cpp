#include "agent/slots/slot_record.hpp"

#include <algorithm>
#include <utility>

#include "agent/journal/fields.hpp"
#include "models/core/lists.hpp"

namespace idletune::slots {
namespace {

void write(journal::Writer& writer, const KnownModel& model) {
  writer.word(model.digest).number(model.generation).byte(static_cast<std::uint8_t>(model.place));
}

KnownModel read(journal::Reader& reader) {
  KnownModel model;
  model.digest = reader.word();
  model.generation = reader.number();
  const std::uint8_t place = reader.byte();
  if (place >= kPlaces) reader.reject();
  model.place = static_cast<Place>(place);
  return model;
}

}  // namespace

Place SlotRecord::free_slot() const {
  const bool a_on_trial = trial.is_there() && trial.place == Place::a;
  return confirmed.place == Place::a || (a_on_trial && confirmed.place == Place::image) ? Place::b
                                                                                        : Place::a;
}

bool SlotRecord::is_refuted(std::uint64_t digest) const { return contains(refuted, digest); }

Status SlotRecord::admits(const KnownModel& model) const {
  if (is_refuted(model.digest))
    return Status(StatusCode::untrusted, "it was tried here and gone back from");
  if (model.generation < lowest_generation) {
    return Status(StatusCode::version_mismatch, "generation %, expected at least %",
                  model.generation, lowest_generation);
  }
  if (trial.is_there() && model.generation < trial.generation) {
    return Status(StatusCode::version_mismatch,
                  "generation %, expected at least %, which is on trial", model.generation,
                  trial.generation);
  }
  return {};
}

void SlotRecord::begin_trial(const KnownModel& model, const TrialCount& so_far) {
  trial = model;
  before = so_far;
  young_starts = 1;  // this one
}

void SlotRecord::confirm() {
  confirmed = std::exchange(trial, {});
  young_starts = 0;
  lowest_generation = std::max(lowest_generation, confirmed.generation);
}

void SlotRecord::refute_trial(const std::string& why) {
  refute(std::exchange(trial, {}).digest, why);
  young_starts = 0;
}

void SlotRecord::refute_confirmed(const std::string& why, const KnownModel& instead) {
  refute(std::exchange(confirmed, instead).digest, why);
  lowest_generation = instead.generation;
}

void SlotRecord::refute(std::uint64_t digest, const std::string& why) {
  if (!is_refuted(digest)) push(refuted, digest);
  if (refuted.size() > kMostRefuted) refuted.erase(refuted.begin());
  reason = why.substr(0, kMaxReasonBytes);
}

std::vector<std::uint8_t> SlotRecord::encode() const {
  journal::Writer writer;
  write(writer, confirmed);
  write(writer, trial);
  writer.number(young_starts).number(lowest_generation).text(reason, kMaxReasonBytes);
  writer.byte(static_cast<std::uint8_t>(refuted.size()));
  for (const std::uint64_t digest : refuted) writer.word(digest);
  return writer.number(before.trials).number(before.deaths).take();
}

bool SlotRecord::decode(Bytes bytes, SlotRecord& out) {
  journal::Reader reader(bytes);
  out = SlotRecord();
  out.confirmed = read(reader);
  out.trial = read(reader);
  out.young_starts = reader.small_number();
  out.lowest_generation = reader.number();
  out.reason = reader.text(kMaxReasonBytes);
  const std::uint8_t count = reader.byte();
  for (std::uint8_t i = 0; reader.ok() && i < count; ++i) out.refuted.push_back(reader.word());
  out.before.trials = reader.number();
  out.before.deaths = reader.number();
  return reader.ok();
}

}  // namespace idletune::slots
