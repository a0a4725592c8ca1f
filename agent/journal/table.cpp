#include "agent/journal/table.hpp"

#include <utility>

#include "models/core/lists.hpp"
#include "models/core/order.hpp"

namespace idletune::journal {

void Table::put(const TrialKey& key, Bytes payload, std::uint8_t version, std::uint64_t rank) {
  erase(key);
  Entry& entry = entries_[key];
  entry.payload = copy(payload);
  entry.version = version;
  entry.serial = ++serial_;
  entry.rank = rank;
  bytes_ += kRecordHeaderBytes + payload.size();
}

bool Table::erase(const TrialKey& key) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return false;
  bytes_ -= kRecordHeaderBytes + entry->second.payload.size();
  entries_.erase(entry);
  return true;
}

void Table::replace(const TrialKey& key, Payload payload) {
  Payload& old = entries_.find(key)->second.payload;
  bytes_ += payload.size();
  bytes_ -= old.size();
  old = std::move(payload);
}

const Payload* Table::find(const TrialKey& key) const {
  const auto entry = entries_.find(key);
  return entry == entries_.end() ? nullptr : &entry->second.payload;
}

void Table::for_each(const TrialKey& like, unsigned parts, const RowVisitor& visit) const {
  TrialKey first;
  if (parts > 0) first.kernel = like.kernel;
  if (parts > 1) first.device = like.device;
  if (parts > 2) first.shape = like.shape;
  if (parts > 3) first.driver = like.driver;
  for (auto row = entries_.lower_bound(first); row != entries_.end(); ++row) {
    if (compare(row->first, first, parts) != 0) return;
    visit(*row);
  }
}

void Table::shrink(std::uint64_t limit_bytes, Order before) {
  if (bytes_ <= limit_bytes) return;
  Rows rows;
  for (const Row& row : entries_) push(rows, &row);
  sort_rows(rows, 0, before);
  for (std::size_t i = 0; bytes_ > limit_bytes - limit_bytes / 10; ++i) erase(rows[i]->first);
}

Payload copy(Bytes bytes) { return Payload(bytes.begin(), bytes.end()); }

void sort_rows(Rows& rows, std::size_t first, Table::Order before) {
  const Rows old(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end());
  const auto order = order_of(old.size(), [&](std::uint32_t a, std::uint32_t b) {
    return before(old[a]->second, old[b]->second);
  });
  for (const std::uint32_t i : order) rows[first++] = old[i];
}

}  // namespace idletune::journal
