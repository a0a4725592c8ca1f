// Numbers and texts as the bytes that devices and readers take.
#pragma once

#include <cstddef>
#include <cstdint>

#include <idletune/span.hpp>

namespace idletune::test {

// What the container holds, which must outlive them.
template <class Container>
Bytes bytes_of(const Container& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()),
          values.size() * sizeof(*values.data())};
}
// Of a text that stands in the source.
template <std::size_t size>
Bytes bytes_of(const char (&text)[size]) {
  return {reinterpret_cast<const std::uint8_t*>(text), size - 1};
}
template <class Container>
MutableBytes writable_bytes_of(Container& values) {
  return {reinterpret_cast<std::uint8_t*>(values.data()), values.size() * sizeof(*values.data())};
}

}  // namespace idletune::test
