// Sorting: one compiled sort for all kinds of lists. A std::sort of one's own for every element
// type and order is a kilobyte of code each.
#pragma once

#include <idletune/span.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace idletune {

// order_of() with the order as a plain function of `context`.
using IndexBefore = bool (*)(const void* context, std::uint32_t first, std::uint32_t second);
std::vector<std::uint32_t> order_by(std::size_t count, const void* context, IndexBefore before);

// The numbers 0 to count-1 in the order of `before(first, second)`, a strict weak order of two such
// numbers. Those that are equal in it stay in the order of the numbers.
template <class Before>
std::vector<std::uint32_t> order_of(std::size_t count, const Before& before) {
  return order_by(count, &before,
                  [](const void* context, std::uint32_t first, std::uint32_t second) {
                    return static_cast<bool>((*static_cast<const Before*>(context))(first, second));
                  });
}

// Sorts by `before(a, b)`; equal elements keep their order.
template <class T, class Before>
void sort_stably(std::vector<T>& values, const Before& before) {
  std::vector<T> sorted;
  sorted.reserve(values.size());
  const auto before_at = [&](std::uint32_t a, std::uint32_t b) {
    return before(values[a], values[b]);
  };
  for (const std::uint32_t i : order_of(values.size(), before_at)) {
    sorted.push_back(std::move(values[i]));
  }
  values = std::move(sorted);
}

// In place, without allocating.
void sort_ascending(Span<double> values);
void sort_ascending(Span<std::chrono::nanoseconds> values);

}  // namespace idletune
