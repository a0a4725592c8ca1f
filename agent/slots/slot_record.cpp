#include "agent/slots/slot_record.hpp"

#include <algorithm>
#include <utility>

#include "agent/journal/fields.hpp"
#include "models/core/lists.hpp"

namespace idletune::slots {
namespace {

journal::Fields& add(journal::Fields& fields, KnownModel& model) {
  return fields.word(model.digest).number(model.generation).byte(model.place, kPlaces);
}

void each_field(journal::Fields& fields, SlotRecord& record) {
  add(fields, record.confirmed);
  add(fields, record.trial).small_number(record.young_starts).number(record.lowest_generation);
  auto count = static_cast<std::uint8_t>(record.refuted.size());
  fields.text(record.reason, kMaxReasonBytes).byte(count);
  for (std::uint8_t i = 0; fields.ok() && i < count; ++i) {
    if (fields.reads()) push(record.refuted, std::uint64_t{0});
    fields.word(record.refuted[i]);
  }
  fields.number(record.before.trials).number(record.before.deaths);
  for (std::uint64_t& each : record.stayed) fields.appended(each);
}

std::size_t slot_index(Place place) { return place == Place::a ? 0 : 1; }

}  // namespace

Place SlotRecord::free_slot() const {
  const bool a_on_trial = trial.is_there() && trial.place == Place::a;
  return confirmed.place == Place::a || (a_on_trial && confirmed.place == Place::image) ? Place::b
                                                                                        : Place::a;
}

bool SlotRecord::is_refuted(std::uint64_t digest) const { return contains(refuted, digest); }

bool SlotRecord::may_serve(const KnownModel& model) const {
  return model.is_there() && !is_refuted(model.digest) &&
         (model.place == Place::image || model.digest == confirmed.digest ||
          model.digest == stayed[slot_index(model.place)]);
}

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
  if (confirmed.place != Place::image) stayed[slot_index(confirmed.place)] = confirmed.digest;
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
  journal::Fields fields;
  each_field(fields, const_cast<SlotRecord&>(*this));
  return fields.take();
}

bool SlotRecord::decode(Bytes bytes, SlotRecord& out) {
  journal::Fields fields(bytes);
  out = SlotRecord();
  each_field(fields, out);
  return fields.ok();
}

}  // namespace idletune::slots
