// Records by key, as State keeps them: the table, its keys, and how its entries are read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "agent/journal/codec.hpp"
#include "agent/journal/entries.hpp"
#include "agent/journal/record.hpp"
#include "models/core/digest.hpp"

namespace idletune::journal {

// Records by key, with their age and their size; the building block of State.
class Table {
 public:
  struct Entry {
    Payload payload;
    std::uint8_t version = 0;  // of the record
    std::uint64_t serial = 0;  // counts up: smaller is older
    std::uint64_t rank = 0;    // of measurements and statistics: larger is worth less
  };
  using Map = std::map<TrialKey, Entry>;
  void put(const TrialKey& key, Entry entry);  // replaces
  bool erase(const TrialKey& key);
  Map::iterator erase(Map::iterator entry);
  void replace(Map::iterator entry, Payload payload);  // its age stays
  const Payload* find(const TrialKey& key) const;
  Map& entries() { return entries_; }
  const Map& entries() const { return entries_; }
  std::uint64_t bytes() const { return bytes_; }  // as records
  // Entries from the oldest to the newest.
  std::vector<const Entry*> by_age() const;

 private:
  Map entries_;
  std::uint64_t bytes_ = 0;
};

// Danger knows no shape; the drivers of a configuration lie side by side.
inline TrialKey danger_key(const TrialKey& plain) {
  return {plain.kernel, plain.device, plain.driver, plain.configuration, 0};
}
inline bool same_variant(const TrialKey& a, const TrialKey& b) {
  return a.kernel == b.kernel && a.device == b.device && a.shape == b.shape;
}
inline TrialKey adoption_key(const ShapeKey& key) {
  return {key.kernel, key.device, key.driver, key.shape, 0};
}
inline TrialKey statistics_key(std::uint64_t kernel, const Shape& shape) {
  return {kernel, 0, 0, digest_of(shape), 0};
}

inline TrialKey name_key(NameKind kind, std::uint64_t digest) {
  return {digest, static_cast<std::uint64_t>(kind), 0, 0, 0};
}

inline Payload copy(Bytes bytes) { return Payload(bytes.begin(), bytes.end()); }

// Takes over what a payload decodes to; false where it does not.
template <class Value, class Apply>
bool decoded(Bytes payload, Apply apply) {
  Value value;
  if (!decode(payload, value)) return false;
  apply(value);
  return true;
}

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

}  // namespace idletune::journal
