// A set of 64-bit numbers: an open hash table, a tenth of the code of std::unordered_set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace idletune {

// At most 32 bytes for each number.
class NumberSet {
 public:
  bool insert(std::uint64_t number);  // false if it was there already
  bool has(std::uint64_t number) const;
  std::size_t size() const { return size_ + (has_zero_ ? 1 : 0); }

 private:
  // Where the number is, or the free place where it belongs. There is a free place.
  std::size_t place_of(std::uint64_t number) const;
  void grow();

  std::vector<std::uint64_t> places_;  // 0: free; a power of two
  std::size_t size_ = 0;               // of places_ that are taken
  bool has_zero_ = false;
};

}  // namespace idletune
