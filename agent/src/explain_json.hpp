// explain() for machines.
#pragma once

#include <string>
#include <vector>

#include <idletune/agent.hpp>

namespace idletune::detail {

// {"status": {...}, "kernels": [{...}, ...]}: every field of the two structures under its own name.
std::string to_json(const AgentStatus& status, const std::vector<Explanation>& explanations);

}  // namespace idletune::detail
