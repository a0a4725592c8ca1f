// What `explore` measures one after the other into one file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/result.hpp>

#include "agent/cli/explore_shapes.hpp"

namespace idletune::cli {

// What --shape, --captured and --problem name, each with its text.
struct GivenProblem {
  enum class Kind : std::uint8_t { shape, captured, matrix };
  Kind kind = Kind::shape;
  std::string text;
};

// Folders of matrices are unfolded. Error: not_found (a folder without any).
Result<std::vector<GivenProblem>> given_problems(const ExploreArguments& arguments);

}  // namespace idletune::cli
