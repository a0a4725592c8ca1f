// What of a journal's records people and machines are told.
#pragma once

#include <idletune/events.hpp>
#include <idletune/span.hpp>

#include "agent/journal/record.hpp"
#include "agent/journal/state.hpp"

namespace idletune {

// False: nobody is told of it. `state`: before the record.
bool event_of(journal::RecordType type, Bytes payload, const journal::State& state, Event& event);

}  // namespace idletune
