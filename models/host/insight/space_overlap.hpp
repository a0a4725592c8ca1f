// Telling whether histories speak of the same tuning space. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "models/host/history/history.hpp"

namespace idletune {

// The configurations of a history, whatever the order of its rows and parameters: all but those of
// status `constraints`. Remembered by a 64-bit digest each.
class ConfigurationSet {
 public:
  explicit ConfigurationSet(const History& history);
  const std::unordered_set<std::uint64_t>& keys() const { return keys_; }
  std::size_t size() const { return keys_.size(); }
  bool has(std::uint64_t key) const { return keys_.count(key) != 0; }

 private:
  std::unordered_set<std::uint64_t> keys_;
};

// A row's key in a ConfigurationSet, for many rows of one history, which must outlive this.
class RowKeys {
 public:
  explicit RowKeys(const History& history);
  std::uint64_t key(std::size_t row) const;
  // The parameters by name.
  const std::vector<const CellColumn*>& columns() const { return columns_; }

 private:
  std::vector<const CellColumn*> columns_;
};

// Kernel, shape and names of the parameters (in any order) are the same.
bool same_kernel(const History& a, const History& b);

// Whether the rows are all that its device could run: no sample, and nothing that a search chose.
bool is_whole(const History& history);

// They share at least 80 % of their union: one space, of which one side may lack what failed.
bool nearly_equal(const ConfigurationSet& a, const ConfigurationSet& b);

}  // namespace idletune
