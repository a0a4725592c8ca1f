// A kernel named on the command line: a package, or a description that is packed on the spot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>

namespace idletune::cli {

// The bytes of the package at `path`; an .xml file is packed in memory first. Errors name the file.
Result<std::vector<std::uint8_t>> read_kernel(const std::string& path);

// "256,256,256" or "256x256x256", with features "256,256:12.5,1". Error: invalid_argument.
Result<Problem> parse_problem(const std::string& text);

}  // namespace idletune::cli
