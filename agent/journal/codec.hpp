// Payloads of the journal's records: values to bytes and back. README.md has the layout.
#pragma once

#include <cstdint>

#include <idletune/span.hpp>

#include "agent/journal/entries.hpp"
#include "agent/journal/record.hpp"

namespace idletune::journal {

// `value` and `out` are of the type's kind (entries.hpp).
Payload encode(RecordType type, const void* value);
bool decode(RecordType type, Bytes payload, void* out);

template <class Value>
Payload encode(const Value& value) {
  return encode(Value::kType, &value);
}
// True if the bytes hold a possible value; false leaves `out` unspecified. What an older version did
// not tell stays as it is in `out`; bytes after the last known field are ignored: later versions of
// a record only append fields.
template <class Value>
bool decode(Bytes payload, Value& out) {
  return decode(Value::kType, payload, &out);
}

}  // namespace idletune::journal
