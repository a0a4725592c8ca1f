#include "agent/events/event_text.hpp"

#include <idletune/text.hpp>

#include "agent/journal/codec.hpp"
#include "agent/journal/names.hpp"
#include "agent/slots/slot_record.hpp"
#include "models/core/number_text.hpp"

namespace idletune {

const char* event_kind_name(EventKind kind) {
  constexpr const char* kNames[] = {"trial_begun", "trial_ended", "adopted", "demoted", "suspected",
                                    "quarantined", "wrong",       "model",   "storage", "missed"};
  const auto number = static_cast<std::size_t>(kind);
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

namespace {

using journal::KernelLine;
using journal::NameKind;
using journal::RecordType;
using journal::State;

std::string milliseconds(std::chrono::nanoseconds time) {
  return joined("% ms", number_text(static_cast<double>(time.count()) / 1e6, 4));
}

// "gemm M=64 N=64 K=64 on Mali-G78: MWG=64 NWG=32"
void tell_whom(const State& state, std::uint64_t kernel, std::uint64_t device, Event& event) {
  const auto named = [&](KernelLine line, Span<const std::int64_t> values) {
    return journal::named_values(state, kernel, line, values);
  };
  event.kernel = journal::called(state, NameKind::kernel, kernel);
  event.device = journal::called(state, NameKind::device, device);
  event.text = event.kernel;
  if (event.shape.size() > 0)
    append(event.text, " %", named(KernelLine::dimensions, event.shape.values()));
  for (std::size_t i = 0; i < event.shape.feature_count(); ++i)
    append(event.text, "%%", i > 0 ? "," : ":", number_text(event.shape.feature(i), 6));
  append(event.text, " on %: %", event.device,
         named(KernelLine::parameters, event.configuration.values()));
}

void tell_trial(const State& state, const journal::Trial& trial, EventKind kind, Event& event) {
  event.kind = kind;
  event.shape = trial.shape;
  event.configuration = trial.configuration;
  tell_whom(state, trial.kernel, trial.device, event);
}

// What it takes, and the default beside it where that is known.
void tell_times(std::chrono::nanoseconds time, const char* form,
                std::chrono::nanoseconds default_time, const char* default_form, Event& event) {
  event.time = time;
  event.default_time = default_time;
  append(event.text, form, milliseconds(time));
  if (default_time.count() > 0) append(event.text, default_form, milliseconds(default_time));
}

bool tell(const journal::Intent& intent, const State& state, Event& event) {
  if (state.dangers().open_trial(intent.trial.key()) != nullptr) return false;  // its next stage
  tell_trial(state, intent.trial, EventKind::trial_begun, event);
  append(event.text, " is tried");
  return true;
}

bool tell(const journal::Measurement& measurement, const State& state, Event& event) {
  tell_trial(state, measurement.trial, EventKind::trial_ended, event);
  if (measurement.status != TrialStatus::correct) {
    append(event.text, " failed: %", trial_status_name(measurement.status));
    return true;
  }
  tell_times(measurement.median, " takes %", measurement.default_time, ", the default % beside it",
             event);
  return true;
}

bool tell(const journal::Adoption& adoption, const State& state, Event& event) {
  tell_trial(state, adoption.trial, EventKind::adopted, event);
  tell_times(adoption.expected, " runs from now on: %", adoption.default_time,
             " instead of the default's %", event);
  return true;
}

bool tell(const journal::Demotion& demotion, const State& state, Event& event) {
  constexpr const char* kWhy[] = {"", ": the driver refused it", ": it failed when looked at again",
                                  ": slower than the default in trials",
                                  ": slower than the default in launches"};
  static_assert(std::size(kWhy) == journal::kDemotionReasonCount);
  event.kind = EventKind::demoted;
  state.for_each_adoption([&](const journal::Adoption& adoption) {
    if (adoption.trial.shape_key() == demotion.key) event.shape = adoption.trial.shape;
  });
  event.configuration = demotion.configuration;
  tell_whom(state, demotion.key.kernel, demotion.key.device, event);
  append(event.text, " runs no more%", kWhy[static_cast<std::size_t>(demotion.why)]);
  return true;
}

bool tell(const journal::Suspect& suspect, const State& state, Event& event) {
  const auto before = state.dangers().suspect(suspect.key);
  if (suspect.deaths == 0) return false;
  if (before && before->deaths == suspect.deaths && before->session == suspect.session)
    return false;
  tell_trial(state, suspect.trial, EventKind::suspected, event);
  append(event.text, " is suspected: %%%", suspicion_cause_name(suspect.cause),
         suspect.detail.empty() ? "" : ", ", suspect.detail);
  return true;
}

bool tell(const journal::Quarantine& quarantine, const State& state, Event& event) {
  tell_trial(state, quarantine.trial, EventKind::quarantined, event);
  append(event.text, " is never tried again: %%%", quarantine_reason_name(quarantine.reason),
         quarantine.detail.empty() ? "" : ", ", quarantine.detail);
  return true;
}

bool tell(const journal::Wrong& wrong, const State& state, Event& event) {
  tell_trial(state, wrong.trial, EventKind::wrong, event);
  append(event.text, " gave wrong results");
  return true;
}

template <class Record>
bool decoded(Bytes payload, const State& state, Event& event) {
  Record record;
  return decode(payload, record) && tell(record, state, event);
}

bool tell_models(Bytes payload, const State& state, Event& event) {
  slots::SlotRecord before;
  slots::SlotRecord now;
  if (!state.models().empty() && !slots::SlotRecord::decode(state.models(), before)) return false;
  if (!slots::SlotRecord::decode(payload, now)) return false;
  event.kind = EventKind::model;
  const auto known = [](const slots::KnownModel& model) {
    return joined("% (generation %)", hexadecimal(model.digest), model.generation);
  };
  const std::uint64_t refuted = now.refuted.empty() ? 0 : now.refuted.back();
  if (refuted != 0 && !before.is_refuted(refuted)) {
    event.text = joined("model % is refused for good: %", hexadecimal(refuted), now.reason);
  } else if (now.trial.is_there() && now.trial.digest != before.trial.digest) {
    event.text = joined("model % is on trial", known(now.trial));
  } else if (now.confirmed.is_there() && now.confirmed.digest != before.confirmed.digest) {
    event.text = joined("model % stays", known(now.confirmed));
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool event_of(RecordType type, Bytes payload, const State& state, Event& event) {
  switch (type) {
    case RecordType::intent: return decoded<journal::Intent>(payload, state, event);
    case RecordType::measurement: return decoded<journal::Measurement>(payload, state, event);
    case RecordType::adoption: return decoded<journal::Adoption>(payload, state, event);
    case RecordType::demotion: return decoded<journal::Demotion>(payload, state, event);
    case RecordType::suspect: return decoded<journal::Suspect>(payload, state, event);
    case RecordType::quarantine: return decoded<journal::Quarantine>(payload, state, event);
    case RecordType::wrong: return decoded<journal::Wrong>(payload, state, event);
    case RecordType::models: return tell_models(payload, state, event);
    default: return false;
  }
}

}  // namespace idletune
