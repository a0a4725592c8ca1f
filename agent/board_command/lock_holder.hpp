// Who works in a state folder.
#pragma once

#include <string>

namespace idletune::board {

// The process that has the folder's lock, as the system's table says; 0: none, or nobody knows.
// Takes no lock: an agent that finds one at its start keeps nothing.
long lock_holder(const std::string& folder);

}  // namespace idletune::board
