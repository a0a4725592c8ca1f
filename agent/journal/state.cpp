#include "agent/journal/state.hpp"

#include <algorithm>

#include "models/core/digest.hpp"
#include "models/core/lists.hpp"
#include "models/core/order.hpp"

namespace idletune::journal {
namespace {

// Danger knows no shape.
TrialKey variant_of(const TrialKey& key) {
  return {key.kernel, key.device, key.driver, 0, key.configuration};
}
TrialKey adoption_key(const ShapeKey& key) {
  return {key.kernel, key.device, key.driver, key.shape, 0};
}
TrialKey statistics_key(std::uint64_t kernel, const Shape& shape) {
  return {kernel, 0, 0, digest_of(shape), 0};
}

TrialKey name_key(NameKind kind, std::uint64_t digest) {
  return {digest, static_cast<std::uint64_t>(kind), 0, 0, 0};
}

// The slower, the less worth remembering; failures are worth what the slowest is.
std::uint64_t measurement_rank(const Measurement& measurement) {
  if (measurement.status != TrialStatus::correct) return UINT64_MAX;
  return static_cast<std::uint64_t>(measurement.median.count());
}

Payload copy(Bytes bytes) { return Payload(bytes.begin(), bytes.end()); }

// Visits the entries with first <= key whose `belongs` holds, until it fails.
template <class Value, class Belongs, class Visit>
void visit_range(const Table& table, const TrialKey& first, const Belongs& belongs,
                 const Visit& visit) {
  for (auto it = table.entries().lower_bound(first); it != table.entries().end(); ++it) {
    if (!belongs(it->first)) return;
    Value value;
    if (decode(it->second.payload, value)) visit(value);
  }
}

template <class Value, class Visit>
void visit_all(const Table& table, const Visit& visit) {
  visit_range<Value>(
      table, TrialKey(), [](const TrialKey&) { return true; }, visit);
}

template <class Value>
std::optional<Value> decode_entry(const Table& table, const TrialKey& key) {
  const Payload* payload = table.find(key);
  Value value;
  if (payload == nullptr || !decode(*payload, value)) return std::nullopt;
  return value;
}

// Takes over what a payload decodes to; false where it does not.
template <class Value, class Apply>
bool decoded(Bytes payload, Apply apply) {
  Value value;
  if (!decode(payload, value)) return false;
  apply(value);
  return true;
}

}  // namespace

StateLimits StateLimits::of_file(std::uint64_t max_file_bytes, std::uint32_t per_shape) {
  StateLimits limits;
  limits.measurement_bytes = max_file_bytes / 4;
  limits.adoption_bytes = max_file_bytes / 8;
  limits.quarantine_bytes = max_file_bytes / 8;
  limits.suspect_bytes = max_file_bytes / 32;
  limits.statistics_bytes = max_file_bytes / 16;
  limits.name_bytes = max_file_bytes / 32;
  limits.unknown_bytes = max_file_bytes / 64;
  limits.measurements_per_shape = per_shape;
  return limits;
}

void Table::put(const TrialKey& key, Entry entry) {
  erase(key);
  bytes_ += kRecordHeaderBytes + entry.payload.size();
  entries_[key] = std::move(entry);
}

bool Table::erase(const TrialKey& key) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return false;
  erase(entry);
  return true;
}

Table::Map::iterator Table::erase(Map::iterator entry) {
  bytes_ -= kRecordHeaderBytes + entry->second.payload.size();
  return entries_.erase(entry);
}

const Payload* Table::find(const TrialKey& key) const {
  const auto entry = entries_.find(key);
  return entry == entries_.end() ? nullptr : &entry->second.payload;
}

std::vector<const Table::Entry*> Table::by_age() const {
  std::vector<const Entry*> sorted;
  sorted.reserve(entries_.size());
  for (const auto& entry : entries_) sorted.push_back(&entry.second);
  sort_stably(sorted, [](const Entry* a, const Entry* b) { return a->serial < b->serial; });
  return sorted;
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
    case RecordType::clean_shutdown: open_.clear(); return true;
    case RecordType::session:
      return decoded<Session>(payload, [this](const Session& session) {
        session_ = session;
        open_.clear();
      });
    case RecordType::intent:
    case RecordType::parked:
    case RecordType::closed: return apply_to_trial(type, payload);
    case RecordType::quarantine:
    case RecordType::suspect: return apply_danger(type, version, payload);
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
        statistics_.put(statistics_key(statistics.kernel, statistics.shape),
                        {copy(payload), version, 0, UINT64_MAX - statistics.launches});
        evict_worst_ranked(statistics_, limits_.statistics_bytes);
      });
    case RecordType::name:
      return decoded<Name>(payload, [&](const Name& name) {
        names_.put(name_key(name.kind, name.digest), {copy(payload), version, next_serial_++, 0});
        evict_oldest(names_, limits_.name_bytes);
      });
  }
  return false;
}

bool State::apply_to_trial(RecordType type, Bytes payload) {
  if (type == RecordType::intent) {
    return decoded<Intent>(payload, [this](const Intent& intent) { apply_intent(intent); });
  }
  return decoded<TrialKey>(payload, [&](const TrialKey& key) {
    close_trial(key);
    if (type == RecordType::closed) suspects_.erase(variant_of(key));
  });
}

bool State::apply_danger(RecordType type, std::uint8_t version, Bytes payload) {
  if (type == RecordType::suspect) {
    return decoded<Suspect>(payload, [&](const Suspect& suspect) {
      close_trial(suspect.key);
      suspects_.put(variant_of(suspect.key), {copy(payload), version, next_serial_++, 0});
      evict_oldest(suspects_, limits_.suspect_bytes);
    });
  }
  return decoded<Quarantine>(payload, [&](const Quarantine& quarantine) {
    const TrialKey variant = variant_of(quarantine.key);
    open_.erase(std::remove_if(open_.begin(), open_.end(),
                               [&](const OpenTrial& o) { return variant_of(o.key) == variant; }),
                open_.end());
    suspects_.erase(variant);
    quarantines_.put(variant, {copy(payload), version, next_serial_++, 0});
    evict_oldest(quarantines_, limits_.quarantine_bytes);
  });
}

bool State::apply_to_adoption(RecordType type, std::uint8_t version, Bytes payload) {
  if (type == RecordType::demotion) {
    return decoded<ShapeKey>(payload,
                             [this](const ShapeKey& key) { adoptions_.erase(adoption_key(key)); });
  }
  return decoded<Adoption>(payload, [&](const Adoption& adoption) {
    adoptions_.put(adoption_key(adoption.trial.shape_key()),
                   {copy(payload), version, next_serial_++, 0});
    evict_oldest(adoptions_, limits_.adoption_bytes);
  });
}

void State::apply_intent(const Intent& intent) {
  const TrialKey key = intent.trial.key();
  close_trial(key);
  if (open_.size() >= limits_.open_trials) open_.erase(open_.begin());
  open_.push_back({key, intent});
}

void State::close_trial(const TrialKey& key) {
  open_.erase(
      std::remove_if(open_.begin(), open_.end(), [&](const OpenTrial& o) { return o.key == key; }),
      open_.end());
}

void State::apply_measurement(const Measurement& measurement, std::uint8_t version, Bytes payload) {
  const TrialKey key = measurement.trial.key();
  const auto old = measurements_.entries().find(key);
  if (old != measurements_.entries().end()) remove_measurement(old);
  measurements_.put(key, {copy(payload), version, next_serial_++, measurement_rank(measurement)});
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
  std::size_t drop = 0;
  while (unknown_bytes_ > limits_.unknown_bytes) {
    unknown_bytes_ -= kRecordHeaderBytes + unknown_[drop++].payload.size();
  }
  unknown_.erase(unknown_.begin(), unknown_.begin() + static_cast<std::ptrdiff_t>(drop));
}

// --- Staying small ---

// Drops a tenth more than it must, so that the sorting is paid for rarely.
void State::evict_oldest(Table& table, std::uint64_t limit_bytes) {
  if (table.bytes() <= limit_bytes) return;
  std::vector<Table::Map::iterator> oldest;
  for (auto it = table.entries().begin(); it != table.entries().end(); ++it) push(oldest, it);
  sort_stably(oldest,
              [](const auto& a, const auto& b) { return a->second.serial < b->second.serial; });
  for (std::size_t i = 0; table.bytes() > limit_bytes - limit_bytes / 10; ++i)
    table.erase(oldest[i]);
}

void State::evict_worst_ranked(Table& table, std::uint64_t limit_bytes) {
  if (table.bytes() <= limit_bytes) return;
  std::vector<Table::Map::iterator> worst;
  for (auto it = table.entries().begin(); it != table.entries().end(); ++it) push(worst, it);
  sort_stably(worst, [](const auto& a, const auto& b) {
    if (a->second.rank != b->second.rank) return a->second.rank > b->second.rank;
    return a->first < b->first;
  });
  for (std::size_t i = 0; table.bytes() > limit_bytes - limit_bytes / 10; ++i)
    table.erase(worst[i]);
}

// The fastest half stays; of the rest the oldest go first.
void State::trim_shape(const ShapeKey& key, std::uint32_t keep) {
  std::vector<Table::Map::iterator> members;
  for (auto it =
           measurements_.entries().lower_bound({key.kernel, key.device, key.driver, key.shape, 0});
       it != measurements_.entries().end() && it->first.shape_key() == key; ++it) {
    push(members, it);
  }
  if (members.size() <= keep) return;
  sort_stably(members, [](const auto& a, const auto& b) {
    if (a->second.rank != b->second.rank) return a->second.rank < b->second.rank;
    return a->second.serial > b->second.serial;
  });
  std::vector<Table::Map::iterator> rest(members.begin() + keep / 2, members.end());
  sort_stably(rest,
              [](const auto& a, const auto& b) { return a->second.serial > b->second.serial; });
  for (std::size_t i = keep - keep / 2; i < rest.size(); ++i) remove_measurement(rest[i]);
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

void State::remove_measurement(Table::Map::iterator entry) {
  const auto group = groups_.find(entry->first.shape_key());
  group->second.bytes -= kRecordHeaderBytes + entry->second.payload.size();
  if (--group->second.count == 0) groups_.erase(group);
  measurements_.erase(entry);
}

// --- Handing out records ---

void State::for_each_live_record(const RecordSink& sink) const {
  const auto emit = [&](RecordType type, Bytes payload) {
    sink(static_cast<std::uint8_t>(type), kRecordVersion, payload);
  };
  const auto emit_table = [&](RecordType type, const Table& table) {
    for (const Table::Entry* entry : table.by_age()) {
      sink(static_cast<std::uint8_t>(type), entry->version, entry->payload);
    }
  };
  if (session_.number != 0) emit(RecordType::session, encode(session_));
  emit_table(RecordType::name, names_);
  emit_table(RecordType::quarantine, quarantines_);
  emit_table(RecordType::suspect, suspects_);
  emit_table(RecordType::measurement, measurements_);
  emit_table(RecordType::adoption, adoptions_);
  if (has_ledger_) emit(RecordType::ledger, encode(ledger_));
  for (const auto& entry : statistics_.entries()) {
    sink(static_cast<std::uint8_t>(RecordType::shape_statistics), entry.second.version,
         entry.second.payload);
  }
  for (const UnknownRecord& record : unknown_) sink(record.type, record.version, record.payload);
  for (const OpenTrial& open : open_) emit(RecordType::intent, encode(open.intent));
  if (ended_cleanly_) emit(RecordType::clean_shutdown, Bytes());
}

std::uint64_t State::live_bytes() const {
  constexpr std::uint64_t kSmallRecords = 128;  // session, ledger, clean mark
  constexpr std::uint64_t kIntentBytes = 512;
  return kFileHeaderBytes + kSmallRecords + quarantines_.bytes() + suspects_.bytes() +
         measurements_.bytes() + adoptions_.bytes() + statistics_.bytes() + names_.bytes() +
         unknown_bytes_ + open_.size() * kIntentBytes;
}

std::uint64_t State::digest() const {
  Digest digest;
  for_each_live_record([&](std::uint8_t type, std::uint8_t version, Bytes payload) {
    digest.add(std::uint64_t{type}).add(std::uint64_t{version}).add(payload);
  });
  return digest.value();
}

// --- Queries ---

bool State::is_quarantined(const TrialKey& key) const {
  return quarantines_.find(variant_of(key)) != nullptr;
}

bool State::is_suspect(const TrialKey& key) const {
  return suspects_.find(variant_of(key)) != nullptr;
}

std::optional<Quarantine> State::quarantine(const TrialKey& key) const {
  return decode_entry<Quarantine>(quarantines_, variant_of(key));
}

std::optional<Suspect> State::suspect(const TrialKey& key) const {
  return decode_entry<Suspect>(suspects_, variant_of(key));
}

void State::for_each_quarantine(const Visitor<const Quarantine&>& visit) const {
  visit_all<Quarantine>(quarantines_, visit);
}

void State::for_each_suspect(const Visitor<const Suspect&>& visit) const {
  visit_all<Suspect>(suspects_, visit);
}

const State::OpenTrial* State::open_trial(const TrialKey& key) const {
  for (const OpenTrial& open : open_) {
    if (open.key == key) return &open;
  }
  return nullptr;
}

void State::for_each_measurement(const ShapeKey& key, const MeasurementVisitor& visit) const {
  visit_range<Measurement>(
      measurements_, {key.kernel, key.device, key.driver, key.shape, 0},
      [&](const TrialKey& other) { return other.shape_key() == key; }, visit);
}

void State::for_each_measurement(const MeasurementVisitor& visit) const {
  visit_all<Measurement>(measurements_, visit);
}

void State::for_each_stale_measurement(const ShapeKey& key, const MeasurementVisitor& visit) const {
  const auto same_problem = [&](const TrialKey& other) {
    return other.kernel == key.kernel && other.device == key.device && other.shape == key.shape;
  };
  visit_range<Measurement>(measurements_, {key.kernel, key.device, 0, key.shape, 0}, same_problem,
                           [&](const Measurement& measurement) {
                             if (measurement.trial.driver != key.driver) visit(measurement);
                           });
}

std::optional<Measurement> State::measurement(const TrialKey& key) const {
  return decode_entry<Measurement>(measurements_, key);
}

void State::for_each_shape_of(const TrialKey& key, const MeasurementVisitor& visit) const {
  auto it = measurements_.entries().lower_bound({key.kernel, key.device, key.driver, 0, 0});
  for (; it != measurements_.entries().end(); ++it) {
    TrialKey same_shape = key;
    same_shape.shape = it->first.shape;
    same_shape.configuration = it->first.configuration;
    if (it->first != same_shape) return;
    Measurement value;
    if (it->first.configuration == key.configuration && decode(it->second.payload, value)) {
      visit(value);
    }
  }
}

std::size_t State::measurement_count(const ShapeKey& key) const {
  const auto group = groups_.find(key);
  return group == groups_.end() ? 0 : group->second.count;
}

std::optional<Adoption> State::adoption(const ShapeKey& key) const {
  auto adoption = decode_entry<Adoption>(adoptions_, adoption_key(key));
  if (adoption && is_quarantined(adoption->trial.key())) return std::nullopt;
  return adoption;
}

std::optional<Adoption> State::stale_adoption(const ShapeKey& key) const {
  std::optional<Adoption> newest;
  std::uint64_t newest_serial = 0;
  for (auto it = adoptions_.entries().lower_bound({key.kernel, key.device, 0, key.shape, 0});
       it != adoptions_.entries().end(); ++it) {
    const TrialKey& other = it->first;
    if (other.kernel != key.kernel || other.device != key.device || other.shape != key.shape) break;
    Adoption adoption;
    if (other.driver == key.driver || it->second.serial < newest_serial) continue;
    if (!decode(it->second.payload, adoption)) continue;
    newest = adoption;
    newest_serial = it->second.serial;
  }
  return newest;
}

void State::for_each_adoption(const Visitor<const Adoption&>& visit) const {
  visit_all<Adoption>(adoptions_, visit);
}

std::optional<ShapeStatistics> State::shape_statistics(std::uint64_t kernel,
                                                       const Shape& shape) const {
  return decode_entry<ShapeStatistics>(statistics_, statistics_key(kernel, shape));
}

std::optional<Name> State::name(NameKind kind, std::uint64_t digest) const {
  return decode_entry<Name>(names_, name_key(kind, digest));
}

}  // namespace idletune::journal
