// A view of contiguous elements that somebody else owns (C++17 has no std::span).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace idletune {

template <class T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr Span(T (&array)[N]) : data_(array), size_(N) {}  // NOLINT
  // Any container with data() and size() whose elements fit.
  template <class C, class = std::enable_if_t<
                         std::is_convertible_v<decltype(std::declval<C&>().data()), T*>>>
  constexpr Span(C& container) : data_(container.data()), size_(container.size()) {}  // NOLINT
  template <class C,
            class = std::enable_if_t<
                std::is_const_v<T> &&
                std::is_convertible_v<decltype(std::declval<const C&>().data()), T*>>,
            class = void>
  constexpr Span(const C& container)  // NOLINT
      : data_(container.data()), size_(container.size()) {}

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  // The index must be in range; checked in debug builds.
  constexpr T& operator[](std::size_t i) const {
#ifndef NDEBUG
    if (i >= size_) std::abort();
#endif
    return data_[i];
  }
  // The part [offset, offset + count); clipped to what is there.
  constexpr Span subspan(std::size_t offset, std::size_t count = SIZE_MAX) const {
    if (offset > size_) offset = size_;
    if (count > size_ - offset) count = size_ - offset;
    return Span(data_ + offset, count);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

using Bytes = Span<const std::uint8_t>;
using MutableBytes = Span<std::uint8_t>;

}  // namespace idletune
