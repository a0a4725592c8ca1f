// What the agent of a state folder says of a kernel, without its board.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/agent.hpp>

namespace idletune::cli {

// The agent itself opens a copy of the folder, with these options but for `state`, on a device that
// has the name of the journal's (where that knows several, of the one that measured the kernel
// last) and runs nothing; so the answers are those that it gives on the board when it is opened
// there next, one for each problem of the package that was measured. `launches`: still to come, of
// each; below 0: nobody says. Errors: those of reading the journal and opening the package;
// not_found where nothing was measured of it.
Result<std::vector<Explanation>> explain_recorded(const std::string& state, AgentOptions options,
                                                  std::vector<std::uint8_t> package,
                                                  double launches);

}  // namespace idletune::cli
