#include "agent/journal/dangers.hpp"

#include <iterator>
#include <string_view>

#include "models/core/lists.hpp"

namespace idletune::journal {
namespace {

constexpr unsigned kVariantParts = 3;  // of danger_key(): of all but the driver
constexpr std::string_view kOnLentData = ", captured arguments";

// The last quarter is for what happens until nothing is tried any more.
std::uint64_t roomy(std::uint64_t limit_bytes) { return limit_bytes - limit_bytes / 4; }

// Whether an outcome at `place` acquits of a death at `death` and the same shape.
bool acquits(Where place, Where death) {
  switch (place) {
    case Where::helper: return death == Where::helper;
    case Where::here: return death != Where::launches;
    case Where::launches: return death != Where::helper;
  }
  return false;
}

// What another driver's quarantine means under `driver`.
void suspect_of(const Quarantine& quarantine, std::uint64_t driver, std::optional<Suspect>& out) {
  Suspect& suspect = out.emplace();
  suspect.trial = quarantine.trial;
  suspect.key = quarantine.key;
  suspect.trial.driver = suspect.key.driver = driver;
  suspect.deaths = 1;
  suspect.cause = SuspicionCause::other_driver;
  suspect.detail = quarantine.detail;
}

// Of a driver of an older version; itself where nobody can tell: another driver's quarantines are
// suspicions at least.
std::uint64_t plain_driver(std::uint64_t driver, const Table& names) {
  const std::optional<Name> named = decode_entry<Name>(names, name_key(NameKind::driver, driver));
  if (!named || named->text.size() < kOnLentData.size()) return driver;
  const std::string_view text = named->text;
  const std::size_t length = text.size() - kOnLentData.size();
  if (text.substr(length) != kOnLentData) return driver;
  std::uint64_t plain = driver;
  std::size_t found = 0;
  visit_values<Name>(names, {}, 0, [&](const Name& other) {
    if (other.kind != NameKind::driver || other.text != text.substr(0, length)) return;
    plain = other.digest;
    ++found;
  });
  return found == 1 ? plain : driver;
}

// Only what other drivers of the same device left may go, the oldest first.
bool make_room(Table& table, std::uint64_t limit_bytes, const TrialKey& plain,
               std::uint64_t bytes) {
  bytes += kRecordHeaderBytes;
  if (table.bytes() + bytes <= roomy(limit_bytes)) return true;
  Rows oldest;
  table.for_each({}, 0, [&](const Table::Row& row) {
    const TrialKey& key = row.first;
    if (key.device == plain.device && key.driver != plain.driver) push(oldest, &row);
  });
  sort_rows(oldest, 0, is_older);
  for (const Table::Row* row : oldest) {
    if (table.bytes() + bytes <= roomy(limit_bytes)) break;
    table.erase(row->first);
  }
  return table.bytes() + bytes <= limit_bytes;
}

}  // namespace

bool Dangers::apply_to_trial(RecordType type, Bytes payload, std::uint64_t session,
                             const Table& names) {
  if (type == RecordType::intent) {
    return decoded<Intent>(payload, [&](Intent intent) {
      split_driver(intent.trial, names);
      const Where place = intent.isolated ? Where::helper : Where::here;
      open({intent.trial.key(), intent.trial, place, intent.stage, false});
    });
  }
  if (type == RecordType::exposure) {
    // Older versions keep those of earlier sessions without knowing what they are.
    return decoded<Exposure>(payload, [&](const Exposure& exposure) {
      if (exposure.session != session) return;
      open({exposure.trial.key(), exposure.trial, exposure.place, IntentStage::run, true});
    });
  }
  return decoded<Ended>(payload, [&](const Ended& ended) {
    close([&](const OpenTrial& open) {
      return open.key == ended.key && (ended.told ? open.place == ended.place : !open.exposed);
    });
    if (type == RecordType::closed) acquit(ended, names);
  });
}

bool Dangers::apply(RecordType type, std::uint8_t version, Bytes payload, const Table& names) {
  const auto take = [&](auto& accused) {
    accuse(type, &accused, accused.key, accused.trial, version, payload, names);
  };
  if (type == RecordType::suspect) return decoded<Suspect>(payload, take);
  if (type == RecordType::quarantine) return decoded<Quarantine>(payload, take);
  return decoded<Wrong>(payload,
                        [&](const Wrong& wrong) { apply_wrong(wrong, version, payload, names); });
}

// --- Announcements ---

void Dangers::open(const OpenTrial& trial) {
  close([&](const OpenTrial& other) {
    return other.key == trial.key && other.exposed == trial.exposed &&
           (!trial.exposed || other.place == trial.place);
  });
  if (!has_room_for(1, trial.exposed)) return;
  open_.push_back(trial);
  retried(trial.trial.plain_key());
}

template <class Closed>
void Dangers::close(const Closed& closed) {
  for (auto open = open_.begin(); open != open_.end();) {
    open = closed(*open) ? open_.erase(open) : std::next(open);
  }
}

void Dangers::close_all() {
  for (const OpenTrial& open : open_) {
    if (open.place == Where::helper)
      unfinished_[unfinished_count_++ % unfinished_.size()] = open.trial.who();
  }
  open_.clear();
}

bool Dangers::is_unfinished(std::uint64_t who) const {
  int times = 0;
  for (const std::uint64_t each : unfinished_) times += each == who ? 1 : 0;
  return times > 1;
}

bool Dangers::has_room_for(std::size_t count, bool exposed) const {
  for (const OpenTrial& open : open_) count += open.exposed == exposed;
  return count <= limits_.open_trials;
}

// --- Deaths ---

void Dangers::retried(const TrialKey& plain) {
  const TrialKey danger = danger_key(plain);
  std::optional<Suspect> suspect = decode_entry<Suspect>(suspects_, danger);
  if (!suspect || suspect->retried) return;
  suspect->retried = true;
  suspects_.replace(danger, encode(*suspect));
}

void Dangers::acquit(const Ended& ended, const Table& names) {
  TrialKey plain = ended.key;
  plain.driver = ended.told ? plain.driver ^ ended.data : plain_driver(plain.driver, names);
  const TrialKey danger = danger_key(plain);
  visit_values<Quarantine>(quarantines_, danger, kVariantParts, [&](const Quarantine& quarantine) {
    if (quarantine.key.driver == plain.driver) return;
    Quarantine acquitted = quarantine;
    acquitted.acquitted_by = plain.driver;
    quarantines_.replace(danger_key(quarantine.key), encode(acquitted));
  });
  std::optional<Suspect> suspect = decode_entry<Suspect>(suspects_, danger);
  if (!suspect) return;
  std::vector<Suspect::Place> left;
  for (const Suspect::Place& death : suspect->at) {
    const bool innocent =
        !ended.told || (death.shape == plain.shape && acquits(ended.place, death.place));
    if (!innocent) push(left, death);
  }
  if (left.empty()) {
    suspects_.erase(danger);
    return;
  }
  suspect->at = std::move(left);
  suspect->survived = suspect->survived || ended.place != Where::launches;
  suspects_.replace(danger, encode(*suspect));
}

// A suspect or a quarantine, whose parts `key` and `trial` are.
void Dangers::accuse(RecordType type, const void* accused, TrialKey& key, Trial& trial,
                     std::uint8_t version, Bytes payload, const Table& names) {
  const std::uint64_t driver = key.driver;
  key.driver = trial.driver = plain_driver(driver, names);
  const TrialKey danger = danger_key(key);
  close([&](const OpenTrial& open) { return danger_key(open.trial.plain_key()) == danger; });
  const Payload kept = key.driver == driver ? copy(payload) : encode(type, accused);
  const bool suspected = type == RecordType::suspect;
  Table& table = suspected ? suspects_ : quarantines_;
  const std::uint64_t limit = suspected ? limits_.suspect_bytes : limits_.quarantine_bytes;
  if (!make_room(table, limit, key, kept.size())) return;
  suspects_.erase(danger);
  table.put(danger, kept, version);
}

void Dangers::apply_wrong(const Wrong& wrong, std::uint8_t version, Bytes payload,
                          const Table& names) {
  Trial trial = wrong.trial;
  split_driver(trial, names);
  const TrialKey key = trial.plain_key();
  if (wrong.class_key == 0 && wrongs_.find(key) != nullptr) return;
  const Payload kept =
      trial.data == wrong.trial.data ? copy(payload) : encode(Wrong{trial, wrong.class_key});
  if (!make_room(wrongs_, limits_.wrong_bytes, key, kept.size())) return;
  wrongs_.put(key, kept, version);
}

bool Dangers::full() const {
  return quarantines_.bytes() > roomy(limits_.quarantine_bytes) ||
         suspects_.bytes() > roomy(limits_.suspect_bytes) ||
         wrongs_.bytes() > roomy(limits_.wrong_bytes);
}

// --- Queries ---

bool Dangers::is_quarantined(const TrialKey& plain) const {
  return quarantines_.find(danger_key(plain)) != nullptr;
}

std::optional<Quarantine> Dangers::quarantine(const TrialKey& plain) const {
  return decode_entry<Quarantine>(quarantines_, danger_key(plain));
}

std::optional<Suspect> Dangers::suspect(const TrialKey& plain) const {
  const TrialKey danger = danger_key(plain);
  std::optional<Suspect> suspect = decode_entry<Suspect>(suspects_, danger);
  if (suspect) return suspect;
  visit_values<Quarantine>(quarantines_, danger, kVariantParts, [&](const Quarantine& quarantine) {
    if (quarantine.key.driver != plain.driver && quarantine.acquitted_by != plain.driver) {
      suspect_of(quarantine, plain.driver, suspect);
    }
  });
  return suspect;
}

void Dangers::for_each_suspect_of(const Trial& trial, const Visitor<const Suspect&>& visit) const {
  const TrialKey like{trial.kernel, trial.device, 0, 0, 0};
  visit_values<Suspect>(suspects_, like, 2, [&](const Suspect& suspect) {
    if (suspect.key.driver == trial.driver && !suspect.trial.configuration.empty()) visit(suspect);
  });
  visit_values<Quarantine>(quarantines_, like, 2, [&](const Quarantine& quarantine) {
    TrialKey plain = quarantine.key;
    plain.driver = trial.driver;
    if (quarantine.trial.configuration.empty() || is_quarantined(plain) ||
        quarantine.key.driver == trial.driver || quarantine.acquitted_by == trial.driver ||
        suspects_.find(danger_key(plain)) != nullptr) {
      return;
    }
    std::optional<Suspect> suspect;
    suspect_of(quarantine, trial.driver, suspect);
    visit(*suspect);
  });
}

void Dangers::for_each_quarantine(const Visitor<const Quarantine&>& visit) const {
  visit_values<Quarantine>(quarantines_, {}, 0, visit);
}

void Dangers::for_each_suspect(const Visitor<const Suspect&>& visit) const {
  visit_values<Suspect>(suspects_, {}, 0, visit);
}

bool Dangers::is_wrong(const Trial& trial) const {
  return wrongs_.find(trial.plain_key()) != nullptr;
}

void Dangers::for_each_wrong(std::uint64_t kernel, std::uint64_t device, std::uint64_t driver,
                             const Visitor<const Wrong&>& visit) const {
  visit_values<Wrong>(wrongs_, {kernel, device, 0, 0, 0}, 2, [&](const Wrong& wrong) {
    if (wrong.trial.driver == driver) visit(wrong);
  });
}

const Dangers::OpenTrial* Dangers::open_trial(const TrialKey& key) const {
  for (const OpenTrial& open : open_) {
    if (open.key == key && !open.exposed) return &open;
  }
  return nullptr;
}

bool Dangers::is_exposed(const TrialKey& key, Where place) const {
  for (const OpenTrial& open : open_) {
    if (open.exposed && open.key == key && open.place == place) return true;
  }
  return false;
}

void split_driver(Trial& trial, const Table& names) {
  if (trial.data != 0) return;
  const std::uint64_t plain = plain_driver(trial.driver, names);
  trial.data = trial.driver ^ plain;
  trial.driver = plain;
}

}  // namespace idletune::journal
