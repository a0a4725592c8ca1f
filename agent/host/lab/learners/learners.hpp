// The five learners by name. Host side.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <idletune/result.hpp>

#include "models/host/learners/learner.hpp"

namespace idletune::learners {

// "cart", "forest", "knn", "svm", "mlp".
const std::vector<std::string_view>& learner_names();

// The learner of that name with its default options and this seed (which "knn" and "svm" have no
// use for). Errors: invalid_argument, listing the names.
Result<std::unique_ptr<Learner>> make_learner(std::string_view name, std::uint64_t seed);

}  // namespace idletune::learners
