#include "models/host/insight/space_overlap.hpp"

#include <algorithm>

#include "models/core/digest.hpp"

namespace idletune {

RowKeys::RowKeys(const History& history) {
  for (const CellColumn& column : history.parameters) columns_.push_back(&column);
  std::sort(columns_.begin(), columns_.end(),
            [](const CellColumn* a, const CellColumn* b) { return a->name() < b->name(); });
}

std::uint64_t RowKeys::key(std::size_t row) const {
  Digest digest;
  for (const CellColumn* column : columns_) digest.add_signed(column->code(row));
  return digest.value();
}

ConfigurationSet::ConfigurationSet(const History& history) {
  const RowKeys rows(history);
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (history.status[row] != TrialStatus::constraints) keys_.insert(rows.key(row));
  }
}

bool same_kernel(const History& a, const History& b) {
  if (a.shape != b.shape || a.kernel != b.kernel || a.parameters.size() != b.parameters.size())
    return false;
  const RowKeys in_a(a);
  const RowKeys in_b(b);
  return std::equal(
      in_a.columns().begin(), in_a.columns().end(), in_b.columns().begin(),
      [](const CellColumn* x, const CellColumn* y) { return x->name() == y->name(); });
}

bool is_whole(const History& history) {
  return history.proposals() == nullptr && history.valid_count <= history.rows();
}

bool nearly_equal(const ConfigurationSet& a, const ConfigurationSet& b) {
  const ConfigurationSet& smaller = a.size() < b.size() ? a : b;
  const ConfigurationSet& larger = a.size() < b.size() ? b : a;
  std::size_t common = 0;
  for (const std::uint64_t key : smaller.keys()) common += larger.has(key) ? 1 : 0;
  return common * 5 >= (a.size() + b.size() - common) * 4;
}

}  // namespace idletune
