// For libraries that have an interface in C++ and one in C, as idletune has: what is behind the
// handles of <idletune/idletune.h>.
#pragma once

#include <idletune/idletune.h>
#include <idletune/agent.hpp>
#include <idletune/device.hpp>
#include <idletune/result.hpp>

namespace idletune {

// Both belong to the handle; null is no handle.
Agent& agent_of(idletune_agent* agent);
Device& device_of(idletune_device* device);
// False if a part is missing.
bool make_problem(const idletune_problem& given, Problem& problem);
// Leaves the message of a failure for idletune_last_message() of this thread; returns the code.
idletune_status reported(const Status& status);

}  // namespace idletune
