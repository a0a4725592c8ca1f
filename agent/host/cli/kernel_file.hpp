// A kernel named on the command line: a package, or a description that is packed on the spot.
#pragma once

#include "agent/host/report/common.hpp"

#include <idletune/configuration.hpp>
#include "models/core/problem_text.hpp"
#include "models/space/space.hpp"

namespace idletune::cli {

// The bytes of the package at `path`; an .xml file is packed in memory first. Errors name the file.
Result<std::vector<std::uint8_t>> read_kernel(const std::string& path);

// What is wrong with the text of a problem; empty: nothing.
std::string wrong_with_problem(const std::string& text);

// "NAME=KIND": what kind the parameters of a name are.
struct NamedKind {
  std::string name;
  ParameterKind kind = ParameterKind::other;
};

// Error: invalid_argument, which names the kinds there are.
Result<NamedKind> named_kind(const std::string& text);
// What is wrong with such a text; empty: nothing.
std::string wrong_with_kind(const std::string& text);

// All kinds, separated by commas, for people.
std::string kind_names();

}  // namespace idletune::cli
