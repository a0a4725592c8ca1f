// Performance over evaluations and over tuning time, for other programs to draw.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "agent/lab/performance_curve.hpp"

namespace idletune::cli {

// {"evaluations": [{at, mean, median, p10}, ...], "tuning_ms": [...]}.
nlohmann::json curves_json(const std::vector<SimulatedSearch>& searches);

// Lines of "target,searcher,axis,at,mean,median,p10", without the title line.
std::string curves_csv(const std::string& target, const std::string& searcher,
                       const std::vector<SimulatedSearch>& searches);
inline constexpr const char* kCurvesCsvTitle = "target,searcher,axis,at,mean,median,p10\n";

}  // namespace idletune::cli
