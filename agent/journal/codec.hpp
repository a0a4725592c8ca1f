// Payloads of the journal's records: values to bytes and back. README.md has the layout.
#pragma once

#include <cstdint>

#include <idletune/span.hpp>

#include "agent/journal/entries.hpp"
#include "agent/journal/record.hpp"

namespace idletune::journal {

struct Session {
  std::uint64_t boot = 0;
  std::uint64_t number = 0;  // counts up from 1
};

Payload encode(const Session& session);
Payload encode(const Intent& intent);
Payload encode(const Ended& ended);  // parked and closed
Payload encode(const Exposure& exposure);
Payload encode(const Wrong& wrong);
Payload encode(const Quarantine& quarantine);
Payload encode(const Suspect& suspect);
Payload encode(const Measurement& measurement);
Payload encode(const Adoption& adoption);
Payload encode(const Demotion& demotion);
Payload encode(const Ledger& ledger);
Payload encode(const ShapeStatistics& statistics);
Payload encode(const Name& name);

// True if the bytes hold a possible value; false leaves `out` unspecified. Bytes after the last
// known field are ignored: later versions of a record only append fields.
bool decode(Bytes payload, Session& out);
bool decode(Bytes payload, Intent& out);
bool decode(Bytes payload, Ended& out);
bool decode(Bytes payload, Exposure& out);
bool decode(Bytes payload, Wrong& out);
bool decode(Bytes payload, Quarantine& out);
bool decode(Bytes payload, Suspect& out);
bool decode(Bytes payload, Measurement& out);
bool decode(Bytes payload, Adoption& out);
bool decode(Bytes payload, Demotion& out);
bool decode(Bytes payload, Ledger& out);
bool decode(Bytes payload, ShapeStatistics& out);
bool decode(Bytes payload, Name& out);

}  // namespace idletune::journal
