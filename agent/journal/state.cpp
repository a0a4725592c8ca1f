#include "agent/journal/state.hpp"

#include "models/core/digest.hpp"
#include "models/core/lists.hpp"

namespace idletune::journal {
namespace {

// The slower, the less worth remembering; failures are worth what the slowest is.
std::uint64_t measurement_rank(const Measurement& measurement) {
  if (measurement.status != TrialStatus::correct) return UINT64_MAX;
  return static_cast<std::uint64_t>(measurement.median.count());
}

bool is_worse(const Table::Entry& a, const Table::Entry& b) { return a.rank > b.rank; }
bool is_newer(const Table::Entry& a, const Table::Entry& b) { return a.serial > b.serial; }
bool is_better(const Table::Entry& a, const Table::Entry& b) {
  return a.rank == b.rank ? is_newer(a, b) : a.rank < b.rank;
}

}  // namespace

StateLimits StateLimits::of_file(std::uint64_t max_file_bytes, std::uint32_t per_shape) {
  StateLimits limits;
  limits.measurement_bytes = max_file_bytes / 4;
  limits.adoption_bytes = max_file_bytes / 8;
  limits.dangers.quarantine_bytes = max_file_bytes / 8;
  limits.dangers.suspect_bytes = max_file_bytes / 32;
  limits.dangers.wrong_bytes = max_file_bytes / 16;
  limits.demotion_bytes = max_file_bytes / 32;
  limits.statistics_bytes = max_file_bytes / 16;
  limits.name_bytes = max_file_bytes / 32;
  limits.unknown_bytes = max_file_bytes / 64;
  limits.measurements_per_shape = per_shape;
  return limits;
}

// --- Taking over records ---

Replayed State::apply(std::uint8_t type, std::uint8_t version, Bytes payload) {
  if (type == 0 || type >= kRecordTypeLimit) {
    keep_unknown(type, version, payload);
    return Replayed::unknown_type;
  }
  return apply_known(static_cast<RecordType>(type), version, payload) ? Replayed::understood
                                                                      : Replayed::malformed;
}

bool State::apply_known(RecordType type, std::uint8_t version, Bytes payload) {
  ended_cleanly_ = type == RecordType::clean_shutdown;
  switch (type) {
    case RecordType::clean_shutdown: dangers_.close_all(); return true;
    case RecordType::session:
      return decoded<Session>(payload, [this](const Session& session) {
        session_ = session;
        dangers_.close_all();
      });
    case RecordType::intent:
    case RecordType::exposure:
    case RecordType::parked:
    case RecordType::closed: return dangers_.apply_to_trial(type, payload, session_.number, names_);
    case RecordType::quarantine:
    case RecordType::suspect:
    case RecordType::wrong: return dangers_.apply(type, version, payload, names_);
    case RecordType::measurement:
      return decoded<Measurement>(payload, [&](const Measurement& measurement) {
        apply_measurement(measurement, version, payload);
      });
    case RecordType::adoption:
    case RecordType::demotion: return apply_to_adoption(type, version, payload);
    case RecordType::ledger:
      return decoded<Ledger>(payload, [this](const Ledger& ledger) {
        ledger_ = ledger;
        has_ledger_ = true;
      });
    case RecordType::shape_statistics:
      return decoded<ShapeStatistics>(payload, [&](const ShapeStatistics& statistics) {
        statistics_.put(statistics_key(statistics.kernel, statistics.shape), payload, version,
                        UINT64_MAX - statistics.launches);
        statistics_.shrink(limits_.statistics_bytes, is_worse);
      });
    case RecordType::name:
      return decoded<Name>(payload, [&](const Name& name) {
        names_.put(name_key(name.kind, name.digest), payload, version);
        names_.shrink(limits_.name_bytes, is_older);
      });
    case RecordType::models: models_ = copy(payload); return !payload.empty();
  }
  return false;
}

bool State::apply_to_adoption(RecordType type, std::uint8_t version, Bytes payload) {
  if (type == RecordType::demotion) {
    return decoded<Demotion>(payload, [&](const Demotion& demotion) {
      const ShapeKey& key = demotion.key;
      // Another object of the kernel may have adopted something else meanwhile.
      const auto adopted = adoption(key);
      if (adopted && (demotion.configuration.empty() ||
                      adopted->trial.configuration == demotion.configuration))
        adoptions_.erase(first_of(key));
      if (demotion.configuration.empty()) return;
      demotions_.put(
          {key.kernel, key.device, key.driver, key.shape, digest_of(demotion.configuration)},
          payload, version);
      demotions_.shrink(limits_.demotion_bytes, is_older);
    });
  }
  return decoded<Adoption>(payload, [&](const Adoption& adoption) {
    adoptions_.put(first_of(adoption.trial.shape_key()), payload, version);
    adoptions_.shrink(limits_.adoption_bytes, is_older);
  });
}

// Older versions tell by measurements alone what is wrong.
void State::apply_measurement(const Measurement& measurement, std::uint8_t version, Bytes payload) {
  ++applied_;
  const TrialKey key = measurement.trial.key();
  if (measurement.status == TrialStatus::correctness) {
    const Wrong wrong{measurement.trial, 0};
    dangers_.apply_wrong(wrong, kRecordVersion, encode(wrong), names_);
  }
  if (measurements_.find(key) != nullptr) remove_measurement(key);
  measurements_.put(key, payload, version, measurement_rank(measurement));
  Group& group = groups_[key.shape_key()];
  ++group.count;
  group.bytes += kRecordHeaderBytes + payload.size();
  const std::uint32_t most = limits_.measurements_per_shape;
  if (group.count > most + most / 8) trim_shape(key.shape_key(), most);
  trim_measurements();
}

void State::keep_unknown(std::uint8_t type, std::uint8_t version, Bytes payload) {
  unknown_.push_back({type, version, copy(payload)});
  unknown_bytes_ += kRecordHeaderBytes + payload.size();
  while (unknown_bytes_ > limits_.unknown_bytes) {
    unknown_bytes_ -= kRecordHeaderBytes + unknown_.front().payload.size();
    unknown_.pop_front();
  }
}

// --- Staying small ---

// The fastest half stays; of the rest the oldest go first.
void State::trim_shape(const ShapeKey& key, std::uint32_t keep) {
  Rows members;
  measurements_.for_each(first_of(key), 4, [&](const Table::Row& row) { push(members, &row); });
  if (members.size() <= keep) return;
  sort_rows(members, 0, is_better);
  sort_rows(members, keep / 2, is_newer);
  for (std::size_t i = keep; i < members.size(); ++i) remove_measurement(members[i]->first);
}

// Takes from the shape that has the most.
void State::trim_measurements() {
  while (measurements_.bytes() > limits_.measurement_bytes) {
    auto largest = groups_.begin();
    for (auto it = groups_.begin(); it != groups_.end(); ++it) {
      if (it->second.bytes > largest->second.bytes) largest = it;
    }
    const ShapeKey key = largest->first;  // the group may go
    trim_shape(key, largest->second.count - (largest->second.count + 7) / 8);
  }
}

void State::remove_measurement(const TrialKey& key) {
  const auto group = groups_.find(key.shape_key());
  group->second.bytes -= kRecordHeaderBytes + measurements_.find(key)->size();
  if (--group->second.count == 0) groups_.erase(group);
  measurements_.erase(key);
}

// --- Handing out records ---

void State::for_each_live_record(const RecordSink& sink) const {
  const auto emit = [&](RecordType type, Bytes payload) {
    sink(static_cast<std::uint8_t>(type), kRecordVersion, payload);
  };
  const auto emit_table = [&](RecordType type, const Table& table) {
    Rows rows;
    table.for_each({}, 0, [&](const Table::Row& row) { push(rows, &row); });
    sort_rows(rows, 0, is_older);
    for (const Table::Row* row : rows) {
      sink(static_cast<std::uint8_t>(type), row->second.version, row->second.payload);
    }
  };
  if (session_.number != 0) emit(RecordType::session, encode(session_));
  emit_table(RecordType::name, names_);
  dangers_.for_each_table(emit_table);
  emit_table(RecordType::measurement, measurements_);
  emit_table(RecordType::demotion, demotions_);  // each takes an adoption away
  emit_table(RecordType::adoption, adoptions_);
  if (!models_.empty()) emit(RecordType::models, models_);
  if (has_ledger_) emit(RecordType::ledger, encode(ledger_));
  for (const auto& entry : statistics_.entries()) {
    sink(static_cast<std::uint8_t>(RecordType::shape_statistics), entry.second.version,
         entry.second.payload);
  }
  for (const LogRecord& record : unknown_) sink(record.type, record.version, record.payload);
  for (const Dangers::OpenTrial& open : dangers_.open_trials()) {
    if (open.exposed) {
      emit(RecordType::exposure, encode(Exposure{open.trial, open.place, session_.number}));
    } else {
      emit(RecordType::intent, encode(Intent{open.trial, open.stage, open.place == Where::helper}));
    }
  }
  if (ended_cleanly_) emit(RecordType::clean_shutdown, Bytes());
}

std::uint64_t State::live_bytes() const {
  constexpr std::uint64_t kSmallRecords = 128;  // session, ledger, clean mark
  constexpr std::uint64_t kIntentBytes = 512;
  std::uint64_t bytes = 0;
  dangers_.for_each_table([&](RecordType, const Table& table) { bytes += table.bytes(); });
  return kFileHeaderBytes + kSmallRecords + bytes + measurements_.bytes() + adoptions_.bytes() +
         demotions_.bytes() + statistics_.bytes() + names_.bytes() + unknown_bytes_ +
         models_.size() + dangers_.open_trials().size() * kIntentBytes;
}

std::uint64_t State::digest() const {
  Digest digest;
  for_each_live_record([&](std::uint8_t type, std::uint8_t version, Bytes payload) {
    digest.add(std::uint64_t{type}).add(std::uint64_t{version}).add(payload);
  });
  return digest.value();
}

}  // namespace idletune::journal
