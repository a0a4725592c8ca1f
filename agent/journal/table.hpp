// Records by key, as State keeps them: the table, its keys, and how its entries are read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "agent/journal/codec.hpp"
#include "agent/journal/entries.hpp"
#include "agent/journal/record.hpp"
#include "models/core/digest.hpp"
#include "models/core/visitor.hpp"

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
  using Row = Map::value_type;
  // As the newest; replaces.
  void put(const TrialKey& key, Bytes payload, std::uint8_t version, std::uint64_t rank = 0);
  bool erase(const TrialKey& key);
  void replace(const TrialKey& key, Payload payload);  // that is there; its age stays
  const Payload* find(const TrialKey& key) const;
  Map& entries() { return entries_; }
  const Map& entries() const { return entries_; }
  std::uint64_t bytes() const { return bytes_; }  // as records
  // Those whose keys agree with `like` in so many parts, in the order of keys: kernel, device,
  // shape, driver, configuration.
  using RowVisitor = Visitor<const Row&>;
  void for_each(const TrialKey& like, unsigned parts, const RowVisitor& visit) const;
  // Drops what comes first in that order, and a tenth more than it must, so that the sorting is paid
  // for rarely.
  using Order = bool (*)(const Entry& a, const Entry& b);
  void shrink(std::uint64_t limit_bytes, Order before);

 private:
  Map entries_;
  std::uint64_t bytes_ = 0;
  std::uint64_t serial_ = 0;
};

using Rows = std::vector<const Table::Row*>;
// Those from `first` on; equal ones keep their order.
void sort_rows(Rows& rows, std::size_t first, Table::Order before);
inline bool is_older(const Table::Entry& a, const Table::Entry& b) { return a.serial < b.serial; }

// Danger knows no shape; the drivers of a configuration lie side by side.
inline TrialKey danger_key(const TrialKey& plain) {
  return {plain.kernel, plain.device, plain.driver, plain.configuration, 0};
}
inline TrialKey statistics_key(std::uint64_t kernel, const Shape& shape) {
  return {kernel, 0, 0, digest_of(shape), 0};
}

inline TrialKey name_key(NameKind kind, std::uint64_t digest) {
  return {digest, static_cast<std::uint64_t>(kind), 0, 0, 0};
}

Payload copy(Bytes bytes);

// Takes over what a payload decodes to; false where it does not.
template <class Value, class Apply>
bool decoded(Bytes payload, const Apply& apply) {
  Value value;
  if (!decode(payload, value)) return false;
  apply(value);
  return true;
}

// Visits the values of Table::for_each().
template <class Value>
void visit_values(const Table& table, const TrialKey& like, unsigned parts,
                  const Visitor<const Value&>& visit) {
  table.for_each(like, parts, [&](const Table::Row& row) {
    Value value;
    if (decode(row.second.payload, value)) visit(value);
  });
}

template <class Value>
std::optional<Value> decode_entry(const Table& table, const TrialKey& key) {
  const Payload* payload = table.find(key);
  std::optional<Value> value(std::in_place);
  if (payload == nullptr || !decode(*payload, *value)) value.reset();
  return value;
}

}  // namespace idletune::journal
