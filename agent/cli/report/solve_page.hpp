// The page about solved systems.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "agent/cli/report/page.hpp"

namespace idletune::report {

// `results` is an array of what `idletune solve --json --html FILE` prints of each matrix; those
// with an "error" say so.
Page solve_page(const nlohmann::json& results);

}  // namespace idletune::report
