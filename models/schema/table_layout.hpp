// Checks that untrusted bytes are a FlatBuffer of a given schema, from a description of its tables
// that takes a byte or two per field. The verifiers that flatc generates say the same in some
// hundred bytes of code per table, which is more than boards have to spare.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <idletune/span.hpp>

namespace idletune::table_layout {

// A table is its fields in the order of the schema, then `end`; tables are known by their place.
enum Field : std::uint8_t {
  bytes1,  // a number, or a structure of that size and alignment
  bytes2,
  bytes4,
  bytes8,
  vector1,  // a vector of numbers
  vector2,
  vector4,
  vector8,
  string,
  strings,          // a vector of strings
  table,            // followed by the table's place
  tables,           // a vector of tables; followed by the table's place
  required = 0x80,  // to be added to any but a number
  end = 0xff,
};

struct Limits {
  flatbuffers::uoffset_t depth;   // of nested tables
  flatbuffers::uoffset_t tables;  // that are visited: a table may be named more than once
};

// Whether `data` is a FlatBuffer whose root is the table at place `root` of `layout`: every offset
// within the bytes, required fields there, and, beyond what FlatBuffers' own verifier looks at, the
// elements of vectors aligned to their size from the start of `data`. The file identifier is the
// caller's to look at. Nothing is allocated.
bool is_flatbuffer(const std::uint8_t* data, std::size_t size, const std::uint8_t* layout,
                   unsigned root, const Limits& limits);

// A stored text, and a stored vector of numbers; of null, empty ones.
inline std::string_view text_of(const flatbuffers::String* stored) {
  return stored == nullptr ? std::string_view() : std::string_view(stored->c_str(), stored->size());
}
template <class T>
Span<const T> values_of(const flatbuffers::Vector<T>* stored) {
  return stored == nullptr ? Span<const T>() : Span<const T>(stored->data(), stored->size());
}

}  // namespace idletune::table_layout
