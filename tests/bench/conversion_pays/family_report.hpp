// What the choice loses, family by family.
#pragma once

#include <optional>
#include <vector>

#include "tests/bench/conversion_pays/policy_replay.hpp"

namespace idletune::bench {

// With the model that each matrix is asked of; an empty list: without models.
using Models = std::vector<std::optional<LeftOutModel>>;

// Tables of solves of some lengths, with warm programs; of three ways in which residuals fall the
// worst counts for each matrix.
void report_families(const ProductTimesTable& table, const Models& models);

}  // namespace idletune::bench
