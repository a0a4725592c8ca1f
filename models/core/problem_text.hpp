// Problems as people write them.
#pragma once

#include <string>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>

namespace idletune {

// "256,256,256" or "256x256x256", with features "256,256:12.5,1". Error: invalid_argument.
Result<Problem> parse_problem(const std::string& text);

}  // namespace idletune
