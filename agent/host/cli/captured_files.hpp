// Files of captured arguments as people are told of them.
#pragma once

#include "agent/host/report/common.hpp"
#include "models/package/captured_arguments.hpp"

namespace idletune::cli {

// Errors name the file.
Result<CapturedArguments> read_captured(const std::string& path);
// Those that an agent keeps in its state folder, sorted; none where there is no such folder.
std::vector<std::string> captured_below(const std::string& state_folder);
json describe_captured(const CapturedArguments& captured);

}  // namespace idletune::cli
