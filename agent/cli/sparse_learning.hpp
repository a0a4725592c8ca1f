// What `learn` tells of products with sparse matrices.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <idletune/result.hpp>

#include "agent/cli/context.hpp"
#include "models/learn/sparse_evaluation.hpp"

namespace idletune::cli {

// Formats, kernels and work groups chosen for matrices that were left out, by what the model has
// and by other learners; null where no history is of a matrix. Prints a table unless it is for
// JSON.
nlohmann::json report_choices(const std::vector<const History*>& histories,
                              const CliContext& context);

// Tables 4 to 7 of Li and Suda 2012 on these histories, beside theirs. Errors: unsupported without
// the lab; invalid_argument where no history is of a matrix.
Result<nlohmann::json> report_as_published(const std::vector<const History*>& histories,
                                           const CliContext& context);

}  // namespace idletune::cli
