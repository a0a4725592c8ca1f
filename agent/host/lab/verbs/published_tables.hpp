// Tables 4 to 7 of Li & Suda 2012, on our histories.
#pragma once

#include "agent/host/cli/context.hpp"
#include "models/host/history/history.hpp"

namespace idletune::cli {

// Prints them beside theirs unless it is for JSON; an empty list where no history is of a matrix.
json report_as_published(const std::vector<const History*>& histories, const CliContext& context);

}  // namespace idletune::cli
