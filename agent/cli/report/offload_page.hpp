// The page about predictions of offloading.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "agent/cli/report/page.hpp"

namespace idletune::report {

// `result` is one of the results that `idletune offload evaluate --json` prints: what was left out,
// its figures, and its "parts", "classes" and "risk".
Page offload_page(const nlohmann::json& result);

}  // namespace idletune::report
