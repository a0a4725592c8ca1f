// The median as people know it: of an even number of values the mean of the middle two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace idletune {

// Of numbers or durations in a list; 0 of nothing.
template <class List>
auto median_of_ascending(const List& values) {
  using Value = std::decay_t<decltype(values[0])>;
  const std::size_t n = values.size();
  return n == 0 ? Value{0} : Value((values[(n - 1) / 2] + values[n / 2]) / 2);
}

template <class List>
auto median_of(List values) {
  std::sort(values.begin(), values.end());
  return median_of_ascending(values);
}

}  // namespace idletune
