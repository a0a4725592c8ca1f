#include "agent/journal/table.hpp"

#include <utility>

#include "models/core/order.hpp"

namespace idletune::journal {

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

void Table::replace(Map::iterator entry, Payload payload) {
  bytes_ += payload.size();
  bytes_ -= entry->second.payload.size();
  entry->second.payload = std::move(payload);
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

}  // namespace idletune::journal
