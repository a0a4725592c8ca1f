#include "models/core/number_set.hpp"

#include <utility>

namespace idletune {
namespace {

constexpr std::size_t kLeastPlaces = 16;

}  // namespace

bool NumberSet::insert(std::uint64_t number) {
  if (number == 0) return !std::exchange(has_zero_, true);
  if (2 * size_ >= places_.size()) grow();
  std::uint64_t& place = places_[place_of(number)];
  if (place == number) return false;
  place = number;
  ++size_;
  return true;
}

bool NumberSet::has(std::uint64_t number) const {
  if (number == 0) return has_zero_;
  return !places_.empty() && places_[place_of(number)] == number;
}

std::size_t NumberSet::place_of(std::uint64_t number) const {
  const std::size_t mask = places_.size() - 1;
  // The upper half of the product depends on all bits of the number.
  auto place = static_cast<std::size_t>((number * 0x9e3779b97f4a7c15ull) >> 32) & mask;
  while (places_[place] != 0 && places_[place] != number) place = (place + 1) & mask;
  return place;
}

void NumberSet::grow() {
  const std::vector<std::uint64_t> old = std::move(places_);
  places_ = std::vector<std::uint64_t>(old.empty() ? kLeastPlaces : 2 * old.size());
  for (const std::uint64_t number : old) {
    if (number != 0) places_[place_of(number)] = number;
  }
}

}  // namespace idletune
